// What the traces hold, one object for each call. Times are microseconds of the trace's clock.

const OUTCOMES = {
	hit_memory: {label: "hit in memory", is: "hit"},
	hit_disk: {label: "hit on disk", is: "hit"},
	miss: {label: "compiled and cached", is: "compile"},
	not_kept: {label: "compiled, not cached", is: "compile"},
	verified: {label: "compiled to verify", is: "compile"},
	bypassed: {label: "bypassed", is: "compile"},
	other: {label: "other", is: "other"},
};

// Slices within a call, whose arguments have the same times.
const WITHIN = ["wait", "agent"];

const CAUSES = {
	disabled: "the cache is off", secure: "a privileged program", no_directory: "no cache directory",
	unwatchable: "the compiler cannot be watched", not_watched: "the compilation was not observed",
	files: "files that cannot be checked again", side_effects: "wrote, removed or ran something",
	too_new: "a header that changed just before or during the compilation", time_macros: "__DATE__ or __TIME__",
	environment: "an environment variable", builtins: "built-ins found elsewhere",
	return_code: "a return code that is not cached", arguments: "invalid arguments", cancelled: "cancelled by its callback",
	history: "an earlier compile of the handle", sticky_options: "options of an earlier call with process-wide effect",
	uncleared_options: "options that may have process-wide effect", slots: "too many libraries",
	threads: "files touched by other threads", exports: "functions that are not watched",
	libraries: "an unknown mathematics library", too_large: "too large", read_only: "the cache is read-only",
	extensions: "a private source encoding", precompiled_header: "a precompiled header",
	bundled_headers: "NVRTC's headers were unpacked", logs: "a log with run times", private_functions: "private functions",
};

// Beyond this a time is none: 300 years, in microseconds.
const FARTHEST = 1e16;

const textOf = (value) => typeof value === "string" ? value : "";
const timeOf = (value) => typeof value === "number" && value > 0 && value < FARTHEST * 1e3 ? value : 0;

// The events of a trace, which may lack its closing bracket, or both; the last event may be cut. null: not a trace.
function parseTrace(text) {
	const body = text.trim().replace(/^\[/, "").replace(/,$/, "");
	const shorter = body.slice(0, Math.max(0, body.lastIndexOf("\n"))).trim().replace(/,$/, "");
	for (const [events, isCut] of [[text, false], [`[${body}]`, false], [`[${shorter}]`, true]]) {
		try {
			const list = JSON.parse(events);
			return Array.isArray(list) ? {events: list, isCut} : null;
		} catch {
			// the next spelling may be the right one
		}
	}
	return null;
}

function readModel(data) {
	const model = {files: [], calls: [], processes: new Map(), ignored: 0};
	for (const {name, written, text} of data.files) {
		const trace = parseTrace(text);
		const file = {name, written, calls: 0, fault: !trace ? "not a trace" : trace.isCut ? "cut at its end" : "", first: Infinity,
			last: -Infinity};
		model.files.push(file);
		for (const event of trace ? trace.events : []) {
			readEvent(model, file, event && typeof event === "object" ? event : {});
		}
	}
	nameCalls(model);
	return model;
}

function processOf(model, file, pid) {
	const id = JSON.stringify([model.files.indexOf(file), pid]);
	if (!model.processes.has(id)) {
		model.processes.set(id, {file, pid, label: "", threads: new Map()});
	}
	return model.processes.get(id);
}

function readEvent(model, file, event) {
	const args = event.args && typeof event.args === "object" ? event.args : {};
	if (event.ph !== "X" || !(Math.abs(event.ts) < FARTHEST)) {
		model.ignored++;
	} else if (!WITHIN.includes(event.cat)) {
		addCall(model, processOf(model, file, event.pid), event, args);
	}
}

function addCall(model, process, event, args) {
	const outcome = Object.hasOwn(OUTCOMES, event.cat) ? event.cat : "other";
	const {is} = OUTCOMES[outcome], dur = timeOf(event.dur), cost = timeOf(args.cost), {file} = process;
	const [cause, about] = causeOf(outcome, textOf(args.reason), textOf(args.detail));
	const call = {
		process, outcome, is, cause, about, args, tid: event.tid, cat: textOf(event.cat), name: textOf(event.name), start: event.ts,
		end: event.ts + dur, took: dur * 1e3, wait: timeOf(args.wait),
		cost: is !== "compile" ? 0 : cost || dur * 1e3,
		saved: is === "hit" ? Math.max(0, cost - dur * 1e3) : 0,
		compiler: `${textOf(args.compiler)} ${textOf(args.version)}`.trim(), arch: textOf(args.arch),
		options: [args.options].flat().map(textOf).join(" "), key: textOf(args.key),
	};
	model.calls.push(call);
	process.label = textOf(args.command) || process.label;
	if (!process.threads.has(call.tid)) {
		process.threads.set(call.tid, []);
	}
	process.threads.get(call.tid).push(call);
	file.calls++;
	file.first = Math.min(file.first, call.start);
	file.last = Math.max(file.last, call.end);
}

// "header changed: vec.h" is a cause, and what it was about.
function causeOf(outcome, reason, detail) {
	const colon = detail.indexOf(": ");
	if (reason !== "") {
		return [Object.hasOwn(CAUSES, reason) ? CAUSES[reason] : reason, detail];
	}
	if (detail !== "") {
		return colon > 0 ? [detail.slice(0, colon), detail.slice(colon + 2)] : [detail, ""];
	}
	return [outcome === "miss" ? "no entry yet" : "cause not recorded", ""];
}

// Python's tempfile, and mkstemp() in a directory for temporary files.
function withoutRandom(name) {
	const tidy = name.replace(/(^|[/._-])tmp[a-z0-9_]{8}(?=[/.]|$)/g, "$1tmp*");
	return /^\/(tmp|var\/tmp|dev\/shm)\//.test(tidy)
		? tidy.replace(/([/._-])(?=[A-Za-z0-9]*[A-Z0-9])(?=[A-Za-z0-9]*[a-z])[A-Za-z0-9]{6}(?=[/.]|$)/g, "$1*") : tidy;
}

// What a program is called: its name, or if it has none what tells it from the others that have none.
function nameCalls(model) {
	const isNamed = (call) => call.name !== "" && call.name !== "default_program";
	const wordsOf = (options) => options.split(" ").filter((word) => word !== "");
	const lists = [...new Set(model.calls.filter((call) => !isNamed(call)).map((call) => call.options))].map(wordsOf);
	const common = new Set((lists[0] || []).filter((word) => lists.every((list) => list.includes(word))));
	for (const call of model.calls) {
		const tells = (word) => !common.has(word) && !(call.arch && word.endsWith(call.arch)); // that has its own column
		const own = wordsOf(call.options).find(tells) || call.key.slice(0, 8);
		call.title = isNamed(call) ? withoutRandom(call.name) : textOf(call.args.kernel) || `${call.name || "(no name)"} ${own}`.trim();
	}
}

const processName = ({label, pid}) => visible(`${label} ${["number", "string"].includes(typeof pid) ? pid : "?"}`.trim());

function sum(calls, value) {
	return calls.reduce((total, call) => total + value(call), 0);
}
