// Tables that sort by each of their columns, and show more lines as they are asked for.

const LINES = 15, MORE = 200;

const classes = (column) => [column.number ? "number" : "", ...(column.kind || [])].filter((name) => name !== "").map((name) => `.${name}`).join("");

// columns: {label, value(row): to sort by, cell(row): text or element, number, kind: more classes}; sorted by `first`, most first.
function makeTable(place, caption, columns, first, empty) {
	let rows = [], sorted = first, isDescending = true, limit = LINES;
	const head = make("tr"), body = make("tbody"), more = make("p.more");

	columns.forEach((column, n) => head.append(make(`th${classes(column)}`, {scope: "col"}, make("button", {click: () => {
		isDescending = sorted === n ? !isDescending : column.number === true;
		sorted = n;
		draw();
	}}, column.label))));
	place.append(make("div.wide", {tabindex: "0", role: "region", "aria-label": caption},
		make("table", {"aria-label": caption}, make("thead", {}, head), body)), more);

	function compare(a, b) {
		const one = columns[sorted].value(a), two = columns[sorted].value(b);
		return (one < two ? -1 : one > two ? 1 : 0) * (isDescending ? -1 : 1);
	}

	function draw() {
		[...head.children].forEach((cell, n) => cell.setAttribute("aria-sort", n !== sorted ? "none" : isDescending ? "descending" : "ascending"));
		body.replaceChildren(...[...rows].sort(compare).slice(0, limit).map((row) => make("tr", {},
			columns.map((column) => make(`td${classes(column)}`, {}, column.cell(row))))));
		if (rows.length === 0) {
			body.append(make("tr", {}, make("td.empty", {colspan: columns.length}, empty)));
		}
		const step = Math.min(MORE, rows.length - limit);
		more.replaceChildren(...step > 0 ? [make("button", {click: () => {
			limit += step;
			draw();
		}}, `${count(step)} more`), `${count(limit)} of ${count(rows.length)}`] : []);
	}

	return (list) => {
		rows = list;
		draw();
	};
}

const named = (text, most = Infinity) => {
	const whole = visible(text);
	return make("span.name", {title: whole.length > most ? whole : undefined}, shorten(whole, most));
};
const outcomeCell = (call) => make("span.outcome", {}, make(`span.swatch.of-${call.outcome}`, {"aria-hidden": "true"}),
	call.is === "other" ? visible(call.cat || "other") : OUTCOMES[call.outcome].label);
const orDash = (value, text) => value > 0 ? text(value) : make("span.dim", {}, "–");

function group(calls, idOf) {
	const groups = new Map();
	for (const call of calls) {
		const id = idOf(call);
		if (!groups.has(id)) {
			groups.set(id, []);
		}
		groups.get(id).push(call);
	}
	return [...groups.values()];
}

// The three most frequent things that a cause was about.
function aboutCell(calls) {
	const abouts = group(calls.filter((call) => call.about !== ""), (call) => call.about).sort((a, b) => b.length - a.length);
	const words = abouts.slice(0, 3).map((same) => shorten(visible(same[0].about), 90) + (same.length > 1 ? ` (${count(same.length)})` : ""));
	return words.join(", ") + (abouts.length > 3 ? `, ${count(abouts.length - 3)} more` : "");
}

function barCell(row, most) {
	const bar = make(`div.bar.of-${row.calls[0].outcome}`);
	bar.style.width = `${most > 0 ? 100 * row.cost / most : 0}%`;
	return bar;
}

const sumUp = (calls) => ({calls, cost: sum(calls, (call) => call.cost), saved: sum(calls, (call) => call.saved), wait: sum(calls, (call) => call.wait),
	compiles: sum(calls, (call) => call.is === "compile"), hits: sum(calls, (call) => call.is === "hit")});

function makeTables(model, show) {
	let most = 0, whole = 0;
	const number = (label, value, text, ...kind) => ({label, number: true, kind, value, cell: (row) => orDash(value(row), text)});
	const causes = makeTable(get("causes"), "Compiles by cause", [
		{label: "outcome", value: (row) => row.calls[0].outcome, cell: (row) => outcomeCell(row.calls[0])},
		{label: "cause", kind: ["fill"], value: (row) => row.calls[0].cause, cell: (row) => visible(row.calls[0].cause)},
		number("calls", (row) => row.compiles, count),
		number("time", (row) => row.cost, time),
		number("share", (row) => row.cost / whole, (share) => percent(share, 1), "narrow-off"),
		{label: "", kind: ["bars"], value: (row) => row.cost, cell: (row) => barCell(row, most)},
		{label: "of these", kind: ["fill", "dim", "narrow-off"], value: (row) => row.calls[0].about, cell: (row) => aboutCell(row.calls)},
	], 3, "Nothing was compiled.");
	const programs = makeTable(get("programs"), "Costliest programs", [
		{label: "program", kind: ["cut"], value: (row) => row.calls[0].title, cell: (row) => named(row.calls[0].title, 56)},
		number("compiles", (row) => row.compiles, count),
		number("time", (row) => row.cost, time),
		number("hits", (row) => row.hits, count),
		number("saved", (row) => row.saved, time),
		number("waited", (row) => row.wait, time, "narrow-off"),
		{label: "compiler", kind: ["narrow-off"], value: (row) => row.calls[0].compiler, cell: (row) => visible(row.calls[0].compiler)},
		{label: "arch", kind: ["narrow-off"], value: (row) => row.calls[0].arch, cell: (row) => visible(row.calls[0].arch)},
	], 2, "No calls.");
	const causeText = (call) => call.is === "compile" ? visible(call.cause + (call.about !== "" ? `: ${call.about}` : "")) : "";
	const calls = makeTable(get("calls"), "Costliest calls", [
		{label: "program", kind: ["cut"], value: (call) => call.title, cell: (call) => make("button.go.name",
			{title: "Show in the time line", click: () => show(call)}, shorten(visible(call.title), 48))},
		{label: "at", number: true, value: (call) => call.from, cell: (call) => time(call.from * 1e3)},
		number("took", (call) => call.took, time),
		number("of it waited", (call) => call.wait, time, "narrow-off"),
		{label: "outcome", value: (call) => OUTCOMES[call.outcome].label, cell: outcomeCell},
		{label: "cause", kind: ["fill"], value: causeText, cell: causeText},
		{label: "process", kind: ["narrow-off"], value: (call) => processName(call.process), cell: (call) => processName(call.process)},
	], 2, "No calls.");

	return (list) => {
		const rows = group(list.filter((call) => call.is === "compile"), (call) => `${call.outcome} ${call.cause}`).map(sumUp);
		most = Math.max(0, ...rows.map((row) => row.cost));
		whole = sum(rows, (row) => row.cost);
		causes(rows);
		programs(group(list, (call) => JSON.stringify([call.title, call.compiler, call.arch])).map(sumUp));
		calls(list);
	};
}
