// The page: figures of everything, then what the filters let through.

function drawSource(model) {
	const calls = model.files.reduce((sum, file) => sum + file.calls, 0);
	const written = (file) => file.written > 0 ? ` of ${new Date(file.written * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC` : "";
	const names = model.files.slice(0, 4).map((file) => `${visible(file.name)}${written(file)}${file.cut ? " (cut at its end)" : ""}`);
	const notes = [`${counted(calls, "call")} of ${counted(model.processes.length, "process", "processes")}`, names.join(", ") +
		(model.files.length > 4 ? ` and ${counted(model.files.length - 4, "more trace")}` : "")];
	if (model.earlier > 0) {
		notes.push("of an earlier release, which did not tell causes and time saved");
	}
	if (model.ignored > 0) {
		notes.push(`${counted(model.ignored, "event")} of kinds that are not shown`);
	}
	get("source").textContent = notes.join(" · ");
}

function drawFigures(model) {
	const sums = addUp(model), at = (name, field) => sums[OUTCOME[name]][field];
	const compiles = sumOf(sums, "compile", "calls"), hits = sumOf(sums, "hit", "calls");
	const waits = sums.reduce((sum, one) => sum + one.waits, 0), waited = sums.reduce((sum, one) => sum + one.wait, 0);
	const figure = (title, value, unit, note) => make("div", {}, make("dt", {}, title),
		make("dd", {}, value, make("small", {}, unit)), make("dd.note", {}, note));
	const parts = (...list) => list.filter(([n]) => n > 0).map(([n, words]) => `${count(n)} ${words}`).join(", ") || "none";
	const lookups = hits + at("miss", "calls") + at("not_kept", "calls");
	get("figures").append(
		figure("compiles", count(compiles), ` in ${time(sumOf(sums, "compile", "ns"))}`, parts([at("miss", "calls"), "cached"],
			[at("not_kept", "calls"), "not cached"], [at("verified", "calls"), "to verify"], [at("bypassed", "calls"), "bypassed"])),
		figure("hits", count(hits), model.earlier > 0 && model.earlier === model.count ? "" : ` saved ${time(sumOf(sums, "hit", "saved"))}`,
			parts([at("hit_memory", "calls"), "in memory"], [at("hit_disk", "calls"), "on disk"])),
		figure("hit rate", percent(hits, lookups), "", `${count(hits)} of ${counted(lookups, "look-up")}`),
		figure("time in hits", time(sumOf(sums, "hit", "ns")), "", hits > 0 ? `${time(sumOf(sums, "hit", "ns") / hits)} each, without waits` : "none"),
		figure("waits", count(waits), waits > 0 ? ` took ${time(waited)}` : "", "for another that compiled the same"));
}

function drawDetails(model, band, i) {
	const place = get("details");
	if (i < 0) {
		place.replaceChildren(make("p.dim", {}, "Point at a call, or choose one, to see what is known of it."));
		return;
	}
	const told = model.told[i], facts = [];
	const tell = (name, value) => {
		const words = typeof value !== "number" ? visible(typeof value === "string" ? value : JSON.stringify(value))
			: ["cost", "saved", "wait"].includes(name) ? time(value) : name === "bytes" ? bytes(value) : String(value);
		if (words !== "" && !(["wait", "bytes", "cost"].includes(name) && value === 0)) {
			facts.push(make("span", {}, `${visible(name)} `, named(words)));
		}
	};
	for (const [name, value] of Object.entries(told)) {
		if (name === "args" && typeof value === "object" && value !== null) {
			Object.entries(value).filter(([member]) => member !== "program").forEach(([member, of]) => tell(member, of));
		} else if (!["name", "cat", "ph", "ts", "dur", "pid", "tid"].includes(name)) {
			tell(name, value);
		}
	}
	const thread = model.threads[model.thread[i]], file = model.files[thread.process.file];
	place.replaceChildren(
		make("p", {}, named(model.texts[model.name[i]] || "(no name)"), " ", outcomeCell(model, i),
			`, ${time((model.end[i] - model.start[i]) * 1e3)}, at ${time(band.timeOf(i) * 1e3)}, process ${processName(model, thread.process)}, thread ${
				visible(thread.tid)}${model.files.length > 1 ? `, ${visible(file.name)}` : ""}`),
		make("p.facts", {}, facts.length > 0 ? facts : "nothing else is told of it"));
}

function drawEmpty() {
	for (const section of document.querySelectorAll("main > section")) {
		section.hidden = true;
	}
	document.querySelector("main").append(make("p", {}, "There is no call in what was given. A program writes them where ",
		make("code", {}, "NVRTCCACHE_TRACE"), " names a file, libnvrtccache.so is loaded into it, and it calls a compiler."));
}

// Traces whose times lie within one another are of one clock, as far as one can tell.
function seemsCommon(model) {
	const spans = model.files.filter((file) => file.calls > 0).sort((a, b) => a.first - b.first);
	let last = spans.length > 0 ? spans[0].last : 0;
	return spans.every((file) => {
		const touches = file.first <= last;
		last = Math.max(last, file.last);
		return touches;
	});
}

function start() {
	const model = readModel(JSON.parse(get("data").textContent));
	const shown = {passes: new Uint8Array(model.count).fill(1), words: "", outcomes: OUTCOMES.map(() => true)};
	document.querySelector("main").hidden = false;
	drawSource(model);
	drawFigures(model);
	if (model.count === 0) {
		drawEmpty();
		return;
	}
	let redraw = 0;
	const band = makeBand(model, shown, {
		call: (i) => drawDetails(model, band, i),
		window: () => {
			if (get("follow").checked && !redraw) {
				redraw = setTimeout(() => {
					redraw = 0;
					drawTables();
				}, 150);
			}
		},
	});
	const tables = makeTables(model, band);

	function drawTables() {
		const within = get("follow").checked;
		tables(within ? shown.passes.map((pass, i) => pass && band.inWindow(i)) : shown.passes);
	}

	function filter() {
		const words = shown.words.toLowerCase().split(/\s+/).filter((word) => word !== "");
		const has = words.map((word) => Uint8Array.from(model.texts, (text) => text.toLowerCase().includes(word)));
		const columns = ["name", "key", "compiler", "version", "arch", "options", "reason", "detail"].map((name) => model[name]);
		const pids = model.processes.map((process) => processName(model, process).toLowerCase());
		for (let i = 0; i < model.count; i++) {
			shown.passes[i] = shown.outcomes[model.outcome[i]] && has.every((texts, n) => columns.some((column) => texts[column[i]]) ||
				pids[callProcess(model, i).index].includes(words[n]));
		}
		band.refill();
		drawTables();
	}

	addUp(model).forEach((sum, outcome) => {
		if (sum.calls > 0) {
			const button = make("button", {"aria-pressed": "true", click: () => {
				shown.outcomes[outcome] = !shown.outcomes[outcome];
				button.setAttribute("aria-pressed", String(shown.outcomes[outcome]));
				filter();
			}}, swatch(OUTCOMES[outcome].name), `${OUTCOMES[outcome].label} ${count(sum.calls)}`);
			get("legend").append(button);
		}
	});
	let typed = 0;
	get("find").addEventListener("input", () => {
		shown.words = get("find").value;
		clearTimeout(typed);
		typed = setTimeout(filter, 120);
	});
	get("follow").addEventListener("change", drawTables);
	get("in").addEventListener("click", () => band.zoom(0.5));
	get("out").addEventListener("click", () => band.zoom(2));
	get("whole").addEventListener("click", () => band.show(0, band.whole));
	get("clock-label").hidden = model.files.length < 2;
	get("clock").value = seemsCommon(model) ? "common" : "own";
	get("clock").addEventListener("change", () => {
		band.setClock(get("clock").value === "common");
		drawTables();
	});
	band.setClock(get("clock").value === "common");
	drawDetails(model, band, -1);
	drawTables();
}

start();
