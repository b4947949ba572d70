// Tables that sort by each of their columns, and show more lines as they are asked for.

const LINES = 20, MORE = 200;

// columns: {label, value(row): to sort by, cell(row): text or element, number, kind: more classes}; first: sorted by that, most first.
function makeTable(place, caption, columns, first, empty) {
	const table = {rows: []};
	let sorted = first, descending = true, limit = LINES;
	const head = make("tr"), body = make("tbody"), more = make("p.more");
	const classes = (column) => ["", ...(column.number ? ["number"] : []), ...(column.kind || [])].join(".");

	columns.forEach((column, n) => {
		const button = make("button", {click: () => {
			descending = sorted === n ? !descending : column.number === true;
			sorted = n;
			table.show(table.rows);
		}}, column.label);
		head.append(make(`th${classes(column)}`, {scope: "col"}, button));
	});
	place.append(make("div.wide", {tabindex: "0", role: "region", "aria-label": caption}, make("table", {"aria-label": caption},
		make("thead", {}, head), body)), more);

	function compare(a, b) {
		const one = columns[sorted].value(a), two = columns[sorted].value(b);
		const order = typeof one === "number" ? one - two : one < two ? -1 : one > two ? 1 : 0;
		return descending ? -order : order;
	}

	function drawMore() {
		more.replaceChildren();
		if (table.rows.length > limit) {
			const step = Math.min(MORE, table.rows.length - limit);
			more.append(make("button", {click: () => {
				limit += step;
				table.show(table.rows);
			}}, `${count(step)} more`), `${count(limit)} of ${count(table.rows.length)}`);
		}
	}

	table.show = (rows) => {
		table.rows = rows;
		[...head.children].forEach((cell, n) => {
			if (n === sorted) {
				cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
			} else {
				cell.removeAttribute("aria-sort");
			}
		});
		const lines = Array.from(rows).sort(compare).slice(0, limit).map((row) => make("tr", {},
			columns.map((column) => make(`td${classes(column)}`, {}, column.cell(row)))));
		body.replaceChildren(...lines);
		if (rows.length === 0) {
			body.append(make("tr", {}, make("td.empty", {colspan: columns.length}, empty)));
		}
		drawMore();
	};
	return table;
}

const named = (text, most) => {
	const whole = visible(text);
	return make("span.name", {title: most && whole.length > most ? whole : undefined}, most ? shorten(whole, most) : whole);
};
const swatch = (outcome) => make(`span.swatch.of-${outcome}`, {"aria-hidden": "true"});
const outcomeCell = (model, i) => make("span.outcome", {}, swatch(OUTCOMES[model.outcome[i]].name),
	OUTCOMES[model.outcome[i]].is === "other" ? visible(model.texts[model.cat[i]] || "other") : OUTCOMES[model.outcome[i]].label);
const orDash = (value, text) => value > 0 ? text(value) : make("span.dim", {}, "–");

// The causes of all compiles, costliest first, with what they were about.
function drawCauses(model, passes) {
	const causes = new Map();
	let whole = 0;
	for (let i = 0; i < model.count; i++) {
		if (!passes[i] || OUTCOMES[model.outcome[i]].is !== "compile") {
			continue;
		}
		const [cause, about] = causeOf(model, i), id = `${model.outcome[i]} ${cause}`;
		const one = causes.get(id) || {i, cause, calls: 0, ns: 0, abouts: new Map()};
		causes.set(id, one);
		one.calls++;
		one.ns += model.cost[i];
		whole += model.cost[i];
		if (about !== "") {
			one.abouts.set(about, (one.abouts.get(about) || 0) + 1);
		}
	}
	const list = [...causes.values()].sort((a, b) => b.ns - a.ns);
	if (list.length === 0) {
		get("causes").replaceChildren(make("p.empty", {}, "Nothing was compiled."));
		return;
	}
	const most = list[0].ns;
	const lines = list.map((one) => {
		const bar = make(`div.bar.of-${OUTCOMES[model.outcome[one.i]].name}`);
		bar.style.width = `${most > 0 ? 100 * one.ns / most : 0}%`;
		const abouts = [...one.abouts].sort((a, b) => b[1] - a[1]);
		const shownAbouts = abouts.slice(0, 3).map(([about, n]) => shorten(visible(about), 90) + (n > 1 ? ` (${count(n)})` : ""));
		return make("tr", {}, make("td", {}, outcomeCell(model, one.i)),
			make("td", {}, causeWords(one.cause)),
			make("td.number", {}, count(one.calls)), make("td.number", {}, time(one.ns)),
			make("td.number.narrow-off", {}, percent(one.ns, whole)), make("td.bars", {}, bar),
			make("td.fill.dim.narrow-off", {}, shownAbouts.join(", ") + (abouts.length > 3 ? `, ${count(abouts.length - 3)} more` : "")));
	});
	get("causes").replaceChildren(make("table", {"aria-labelledby": "causes-title"}, make("thead", {}, make("tr", {},
		make("th", {scope: "col"}, "outcome"), make("th", {scope: "col"}, "cause"), make("th.number", {scope: "col"}, "calls"),
		make("th.number", {scope: "col"}, "time"), make("th.number.narrow-off", {scope: "col"}, "share"), make("td"),
		make("th.narrow-off", {scope: "col"}, "of these"))), make("tbody", {}, lines)));
}

// Sums by what `of` gives for a call, which must be a number or a text.
function group(model, passes, of) {
	const groups = new Map();
	for (let i = 0; i < model.count; i++) {
		if (!passes[i] || !isCall(model, i)) {
			continue;
		}
		const id = of(i);
		let one = groups.get(id);
		if (!one) {
			one = {i, compiles: 0, ns: 0, longest: 0, hits: 0, saved: 0, wait: 0, first: Infinity, last: -Infinity, calls: 0};
			groups.set(id, one);
		}
		const kind = OUTCOMES[model.outcome[i]].is;
		one.calls++;
		one.compiles += kind === "compile";
		one.hits += kind === "hit";
		one.ns += model.cost[i];
		one.longest = Math.max(one.longest, model.cost[i]);
		one.saved += model.saved[i];
		one.wait += model.wait[i];
		one.first = Math.min(one.first, model.start[i]);
		one.last = Math.max(one.last, model.end[i]);
	}
	return [...groups.values()];
}

const SUMS = [
	{label: "compiles", number: true, value: (row) => row.compiles, cell: (row) => orDash(row.compiles, count)},
	{label: "time", number: true, value: (row) => row.ns, cell: (row) => orDash(row.ns, time)},
	{label: "longest", number: true, kind: ["narrow-off"], value: (row) => row.longest, cell: (row) => orDash(row.longest, time)},
	{label: "hits", number: true, value: (row) => row.hits, cell: (row) => orDash(row.hits, count)},
	{label: "saved", number: true, value: (row) => row.saved, cell: (row) => orDash(row.saved, time)},
	{label: "waited", number: true, value: (row) => row.wait, cell: (row) => orDash(row.wait, time)},
];

function makeTables(model, band) {
	const text = (column, i) => model.texts[model[column][i]];
	const go = (i) => make("button.go.name", {title: "Show in the time line", click: () => {
		band.showCall(i);
		get("rows").focus({preventScroll: true});
		get("overview").scrollIntoView({block: "start"});
	}}, shorten(visible(text("name", i)) || "(no name)", 48));
	const compiler = (i) => `${text("compiler", i)} ${text("version", i)}`.trim();
	const process = (i) => processName(model, callProcess(model, i));
	const file = (i) => model.files[callProcess(model, i).file].name;
	const ofFile = model.files.length > 1
		? [{label: "trace", kind: ["cut"], value: (row) => file(row.i), cell: (row) => named(file(row.i), 40)}] : [];

	const programs = makeTable(get("programs"), "Costliest programs", [
		{label: "program", kind: ["cut"], value: (row) => text("name", row.i), cell: (row) => named(text("name", row.i) || "(no name)", 56)},
		...SUMS,
		{label: "compiler", kind: ["narrow-off"], value: (row) => compiler(row.i), cell: (row) => visible(compiler(row.i))},
		{label: "arch", kind: ["narrow-off"], value: (row) => text("arch", row.i), cell: (row) => visible(text("arch", row.i))},
	], 2, "No calls.");
	const calls = makeTable(get("calls"), "Calls", [
		{label: "program", kind: ["cut"], value: (row) => text("name", row.i), cell: (row) => go(row.i)},
		{label: "at", number: true, value: (row) => band.timeOf(row.i), cell: (row) => time(band.timeOf(row.i) * 1e3)},
		{label: "took", number: true, value: (row) => model.end[row.i] - model.start[row.i],
			cell: (row) => time((model.end[row.i] - model.start[row.i]) * 1e3)},
		{label: "of it waited", number: true, kind: ["narrow-off"], value: (row) => model.wait[row.i], cell: (row) => orDash(model.wait[row.i], time)},
		{label: "saved", number: true, kind: ["narrow-off"], value: (row) => model.saved[row.i], cell: (row) => orDash(model.saved[row.i], time)},
		{label: "outcome", value: (row) => OUTCOMES[model.outcome[row.i]].label, cell: (row) => outcomeCell(model, row.i)},
		{label: "cause", kind: ["fill"], value: (row) => callCause(row.i), cell: (row) => callCause(row.i)},
		{label: "process", value: (row) => process(row.i), cell: (row) => process(row.i)},
		...ofFile,
		{label: "key", kind: ["narrow-off"], value: (row) => text("key", row.i), cell: (row) => named(text("key", row.i).slice(0, 8))},
	], 2, "No calls.");
	const processes = makeTable(get("processes"), "Processes", [
		{label: "process", value: (row) => process(row.i), cell: (row) => process(row.i)},
		...ofFile,
		{label: "threads", number: true, kind: ["narrow-off"], value: (row) => callProcess(model, row.i).threads.length,
			cell: (row) => count(callProcess(model, row.i).threads.length)},
		...SUMS,
		{label: "from first to last", number: true, kind: ["narrow-off"], value: (row) => row.last - row.first, cell: (row) => time((row.last - row.first) * 1e3)},
	], ofFile.length + 3, "No processes.");

	function callCause(i) {
		if (OUTCOMES[model.outcome[i]].is !== "compile") {
			return visible(text("detail", i));
		}
		const [cause, about] = causeOf(model, i);
		return causeWords(cause) + (about !== "" ? `: ${visible(about)}` : "");
	}

	return (passes) => {
		drawCauses(model, passes);
		programs.show(group(model, passes, (i) => `${model.name[i]} ${model.compiler[i]} ${model.version[i]} ${model.arch[i]}`));
		const list = [];
		for (let i = 0; i < model.count; i++) {
			if (passes[i] && isCall(model, i)) {
				list.push({i});
			}
		}
		calls.show(list);
		processes.show(group(model, passes, (i) => callProcess(model, i).index));
	};
}
