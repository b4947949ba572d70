// The page: figures of everything, then what the filters let through.

function drawSource(model) {
	const named = model.files.slice(0, 4).map((file) => visible(file.name) +
		(file.written > 0 ? ` of ${new Date(file.written * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC` : "") +
		(file.fault ? ` (${file.fault})` : ""));
	const more = model.files.length > 4 ? ` and ${counted(model.files.length - 4, "more trace")}` : "";
	const ignored = model.ignored > 0 ? ` · ${counted(model.ignored, "event")} of kinds that are not shown` : "";
	get("source").textContent =
		`${counted(model.calls.length, "call")} of ${counted(model.processes.size, "process", "processes")} · ${named.join(", ")}${more}${ignored}`;
}

function drawFigures(calls) {
	const of = (name, field = "outcome") => calls.filter((call) => call[field] === name);
	const compiles = of("compile", "is"), hits = of("hit", "is"), waits = calls.filter((call) => call.wait > 0);
	const lookups = hits.length + of("miss").length + of("not_kept").length, inHits = sum(hits, (call) => Math.max(0, call.took - call.wait));
	const figure = (title, value, unit, note) => get("figures").append(make("div", {}, make("dt", {}, title),
		make("dd", {}, value, make("small", {}, unit)), make("dd.note", {}, note)));
	const parts = (names) => Object.entries(names).map(([name, words]) => [of(name).length, words]).filter(([n]) => n > 0)
		.map(([n, words]) => `${count(n)} ${words}`).join(", ") || "none";
	figure("compiles", count(compiles.length), ` in ${time(sum(compiles, (call) => call.cost))}`,
		parts({miss: "cached", not_kept: "not cached", verified: "to verify", bypassed: "bypassed"}));
	figure("hits", count(hits.length), ` saved ${time(sum(hits, (call) => call.saved))}`, parts({hit_memory: "in memory", hit_disk: "on disk"}));
	figure("hit rate", percent(hits.length, lookups), "", `${count(hits.length)} of ${counted(lookups, "look-up")}`);
	figure("time in hits", time(inHits), "", hits.length > 0 ? `${time(inHits / hits.length)} each, without waits` : "none");
	figure("waits", count(waits.length), waits.length > 0 ? ` took ${time(sum(waits, (call) => call.wait))}` : "", "for another that compiled the same");
}

function factText(name, value) {
	if (typeof value === "number") {
		return ["cost", "wait", "agent_wait"].includes(name) ? time(value) : name === "bytes" ? bytes(value) : String(value);
	}
	return visible(typeof value === "string" ? value : JSON.stringify(value));
}

function drawDetails(call) {
	if (!call) {
		get("details").replaceChildren(make("p.dim", {}, "Point at a call, or choose one, to see what is known of it."));
		return;
	}
	const facts = Object.entries(call.args).filter(([, value]) => value !== 0 && value !== "")
		.map(([name, value]) => make("span", {}, `${visible(name)} `, named(factText(name, value))));
	get("details").replaceChildren(
		make("p", {}, named(call.name || "(no name)"), " ", outcomeCell(call), `, ${time(call.took)}, at ${time(call.from * 1e3)}, process ${
			processName(call.process)}, thread ${visible(call.tid)}, ${visible(call.process.file.name)}`),
		make("p.facts", {}, facts));
}

function drawEmpty() {
	document.querySelectorAll("main > section").forEach((section) => section.remove());
	document.querySelector("main").append(make("p", {}, "There is no call in what was given. A program writes them where ",
		make("code", {}, "NVRTCCACHE_TRACE"), " names a file, libnvrtccache.so is loaded into it, and it calls a compiler."));
}

// One button for each outcome that there is, which leaves it out.
function makeLegend(calls, hidden, filter) {
	for (const [outcome, {label}] of Object.entries(OUTCOMES)) {
		const n = calls.filter((call) => call.outcome === outcome).length;
		const button = make("button", {"aria-pressed": "true", click: () => {
			const isShown = hidden.delete(outcome);
			if (!isShown) {
				hidden.add(outcome);
			}
			button.setAttribute("aria-pressed", String(isShown));
			filter();
		}}, make(`span.swatch.of-${outcome}`, {"aria-hidden": "true"}), `${label} ${count(n)}`);
		if (n > 0) {
			get("legend").append(button);
		}
	}
}

function start() {
	const model = readModel(JSON.parse(get("data").textContent)), {calls} = model, hidden = new Set();
	document.querySelector("main").hidden = false;
	drawSource(model);
	drawFigures(calls);
	if (calls.length === 0) {
		drawEmpty();
		return;
	}
	const band = makeBand(model, drawDetails);
	const drawTables = makeTables(model, (call) => {
		band.showCall(call);
		get("rows").focus({preventScroll: true});
		get("overview").scrollIntoView({block: "start"});
	});

	function filter() {
		const words = get("find").value.toLowerCase().split(/\s+/);
		for (const call of calls) {
			const text = [call.name, call.title, call.key, call.compiler, call.arch, call.options, call.cause, call.about, processName(call.process)]
				.join("\n").toLowerCase();
			call.shown = !hidden.has(call.outcome) && words.every((word) => text.includes(word));
		}
		band.redraw();
		drawTables(calls.filter((call) => call.shown));
	}

	makeLegend(calls, hidden, filter);
	get("find").addEventListener("input", filter);
	get("in").addEventListener("click", () => band.zoom(0.5));
	get("out").addEventListener("click", () => band.zoom(2));
	get("whole").addEventListener("click", band.showAll);
	drawDetails(null);
	filter();
}

start();
