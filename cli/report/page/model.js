// What the traces hold, as columns: one place in each array for a call. Times are microseconds of the trace's clock.

const OUTCOMES = [
	{name: "hit_memory", label: "hit in memory", is: "hit"},
	{name: "hit_disk", label: "hit on disk", is: "hit"},
	{name: "miss", label: "compiled and cached", is: "compile"},
	{name: "not_kept", label: "compiled, not cached", is: "compile"},
	{name: "verified", label: "compiled to verify", is: "compile"},
	{name: "bypassed", label: "bypassed", is: "compile"},
	{name: "wait", label: "wait", is: "wait"},
	{name: "other", label: "other", is: "other"},
];
const OUTCOME = Object.fromEntries(OUTCOMES.map((outcome, i) => [outcome.name, i]));
// The slices of traces before 0.1.0 were called after what had happened, and their category was the compiler.
const EARLIER = {"compile": "miss", "hit in memory": "hit_memory", "hit on disk": "hit_disk"};

const CAUSES = {
	disabled: "the cache is off", secure: "a privileged program", no_directory: "no cache directory",
	unwatchable: "the compiler cannot be watched", not_watched: "the compilation was not observed", files: "files that cannot be checked again",
	side_effects: "wrote, removed or ran something", too_new: "a header that changed just before or during the compilation", time_macros: "__DATE__ or __TIME__",
	environment: "an environment variable", builtins: "built-ins found elsewhere", return_code: "a return code that is not cached",
	arguments: "invalid arguments", cancelled: "cancelled by its callback", history: "an earlier compile of the handle",
	sticky_options: "options of an earlier call with process-wide effect", uncleared_options: "options that may have process-wide effect", slots: "too many libraries",
	threads: "files touched by other threads", exports: "functions that are not watched", libraries: "an unknown mathematics library",
	too_large: "too large", read_only: "the cache is read-only", extensions: "a private source encoding",
	precompiled_header: "a precompiled header", bundled_headers: "NVRTC's headers were unpacked", logs: "a log with run times",
	private_functions: "private functions",
};

// Beyond this a time is none: 300 years, in microseconds.
const FARTHEST = 1e16;

// A column for each that is known; everything else is shown with the call.
const TEXT_COLUMNS = ["name", "cat", "ph"];
const ARGS_TEXT_COLUMNS = {key: "key", compiler: "compiler", version: "version", arch: "arch", options: "options", reason: "reason",
	detail: "detail", program: "program", name: "label"};
const NUMBER_COLUMNS = ["ts", "dur"];
const ARGS_NUMBER_COLUMNS = ["cost", "saved", "wait", "bytes"];
const asNumber = (value, otherwise) => typeof value === "number" ? value : otherwise;

function readModel(data) {
	// each text once, with a number
	const texts = [""], numbers = new Map([["", 0]]);
	const numberOf = (text) => {
		if (typeof text !== "string") {
			return 0;
		}
		if (!numbers.has(text)) {
			numbers.set(text, texts.length);
			texts.push(text);
		}
		return numbers.get(text);
	};
	const total = data.files.reduce((sum, file) => sum + file.events.length, 0);
	const model = {
		texts, count: 0, ignored: 0, files: data.files.map((file) => ({...file, first: Infinity, last: -Infinity, calls: 0})),
		processes: [], threads: [], earlier: 0,
		start: new Float64Array(total), end: new Float64Array(total), outcome: new Uint8Array(total), thread: new Uint32Array(total),
		cost: new Float64Array(total), saved: new Float64Array(total), wait: new Float64Array(total), bytes: new Float64Array(total),
		told: new Array(total),
	};
	for (const name of ["name", "cat", "key", "compiler", "version", "arch", "options", "reason", "detail"]) {
		model[name] = new Uint32Array(total);
	}
	const processes = new Map(), threads = new Map(), labels = [];
	const event = {};
	for (const [file, {events}] of data.files.entries()) {
		for (const told of events) {
			readEvent(told, file);
		}
	}
	function readEvent(told, file) {
		const args = typeof told.args === "object" && told.args !== null ? told.args : {};
		for (const name of TEXT_COLUMNS) {
			event[name] = numberOf(told[name]);
		}
		for (const [name, column] of Object.entries(ARGS_TEXT_COLUMNS)) {
			event[column] = numberOf(Object.hasOwn(args, name) ? args[name] : "");
		}
		for (const name of NUMBER_COLUMNS) {
			event[name] = asNumber(told[name], NaN);
		}
		for (const name of ARGS_NUMBER_COLUMNS) {
			event[name] = asNumber(args[name], name === "wait" || name === "bytes" ? 0 : NaN);
		}
		event.pid = ["number", "string"].includes(typeof told.pid) ? told.pid : 0;
		event.tid = ["number", "string"].includes(typeof told.tid) ? told.tid : 0;
		const phase = texts[event.ph];
		if (phase === "M") {
			labels.push({file, pid: event.pid, tid: event.tid, what: texts[event.name], label: texts[event.label]});
		} else if (!(Math.abs(event.ts) < FARTHEST) || !["X", "i", "I"].includes(phase)) {
			model.ignored++;
		} else {
			addCall(model, event, file, told, processes, threads);
		}
	}
	for (const {file, pid, tid, what, label} of labels) {
		const process = processes.get(`${file} ${pid}`), thread = threads.get(`${file} ${pid} ${tid}`);
		if (what === "process_name" && process) {
			process.label = label;
		} else if (what === "thread_name" && thread) {
			thread.label = label;
		}
	}
	layOut(model);
	return model;
}

function addCall(model, event, file, told, processes, threads) {
	const i = model.count++, cat = model.texts[event.cat], name = model.texts[event.name];
	let outcome = Object.hasOwn(OUTCOME, cat) ? OUTCOME[cat] : OUTCOME.other;
	if (outcome === OUTCOME.other && event.program !== 0 && Object.hasOwn(EARLIER, name)) {
		outcome = OUTCOME[EARLIER[name]];
		event.compiler = event.cat;
		event.name = event.program;
		model.earlier++;
	}
	const kind = OUTCOMES[outcome].is;
	const dur = event.dur > 0 && event.dur < FARTHEST ? event.dur : 0;
	const cost = event.cost >= 0 ? event.cost : NaN;
	let process = processes.get(`${file} ${event.pid}`);
	if (!process) {
		process = {file, pid: event.pid, label: "", threads: [], first: Infinity, last: -Infinity, index: model.processes.length};
		processes.set(`${file} ${event.pid}`, process);
		model.processes.push(process);
	}
	let thread = threads.get(`${file} ${event.pid} ${event.tid}`);
	if (!thread) {
		thread = {process, tid: event.tid, label: "", calls: [], index: model.threads.length};
		threads.set(`${file} ${event.pid} ${event.tid}`, thread);
		model.threads.push(thread);
		process.threads.push(thread);
	}
	model.start[i] = event.ts;
	model.end[i] = event.ts + dur;
	model.outcome[i] = outcome;
	model.thread[i] = thread.index;
	for (const column of ["name", "cat", "key", "compiler", "version", "arch", "options", "reason", "detail"]) {
		model[column][i] = event[column];
	}
	// of a compile, what it took now; of a hit, what it saved
	model.cost[i] = kind === "compile" ? (cost > 0 ? cost : dur * 1e3) : 0;
	model.saved[i] = kind !== "hit" ? 0 : event.saved >= 0 ? event.saved : cost >= 0 ? Math.max(0, cost - dur * 1e3) : 0;
	model.wait[i] = event.wait >= 0 && kind !== "wait" ? event.wait : 0;
	model.bytes[i] = event.bytes >= 0 ? event.bytes : 0;
	model.told[i] = told;
	thread.calls.push(i);
	const trace = model.files[file];
	trace.calls += kind !== "wait";
	for (const one of [process, trace]) {
		one.first = Math.min(one.first, model.start[i]);
		one.last = Math.max(one.last, model.end[i]);
	}
}

// Each thread has as many lanes as it has calls inside one another; waits lie in the lane of their call.
function layOut(model) {
	for (const thread of model.threads) {
		const ends = [];
		const inOrder = Uint32Array.from(thread.calls).sort((a, b) => model.start[a] - model.start[b] || model.end[b] - model.end[a]);
		const lanes = [];
		thread.waits = [];
		for (const i of inOrder) {
			if (model.outcome[i] === OUTCOME.wait) {
				thread.waits.push(i);
				continue;
			}
			let lane = ends.findIndex((end) => end <= model.start[i] + 0.001);
			lane = lane >= 0 ? lane : Math.min(ends.length, 5);
			ends[lane] = model.end[i];
			(lanes[lane] = lanes[lane] || []).push(i);
		}
		thread.lanes = lanes.map((lane) => Uint32Array.from(lane));
		thread.lanes = thread.lanes.length > 0 ? thread.lanes : [new Uint32Array(0)];
		thread.first = model.start[inOrder[0]];
		thread.calls = null;
	}
}

const callProcess = (model, i) => model.threads[model.thread[i]].process;
const isCall = (model, i) => OUTCOMES[model.outcome[i]].is !== "wait";

function processName(model, process) {
	const name = process.label !== "" ? `${visible(process.label)} ` : "";
	return `${name}${visible(process.pid)}`;
}

// "header changed: vec.h" is a cause, and what it was about.
function causeOf(model, i) {
	const reason = model.texts[model.reason[i]], detail = model.texts[model.detail[i]];
	const colon = detail.indexOf(": ");
	if (reason !== "") {
		return [reason, detail];
	}
	if (detail !== "") {
		return colon > 0 ? [detail.slice(0, colon), detail.slice(colon + 2)] : [detail, ""];
	}
	return [model.outcome[i] === OUTCOME.miss ? "no entry yet" : "cause not recorded", ""];
}

const causeWords = (cause) => Object.hasOwn(CAUSES, cause) ? CAUSES[cause] : visible(cause);

function addUp(model, passes) {
	const sums = OUTCOMES.map(() => ({calls: 0, ns: 0, saved: 0, wait: 0, waits: 0}));
	for (let i = 0; i < model.count; i++) {
		if (passes && !passes[i]) {
			continue;
		}
		const sum = sums[model.outcome[i]];
		sum.calls++;
		sum.ns += OUTCOMES[model.outcome[i]].is === "compile" ? model.cost[i]
			: Math.max(0, (model.end[i] - model.start[i]) * 1e3 - model.wait[i]);
		sum.saved += model.saved[i];
		sum.wait += model.wait[i];
		sum.waits += model.wait[i] > 0;
	}
	return sums;
}

const sumOf = (sums, kind, field) => sums.reduce((sum, one, i) => sum + (OUTCOMES[i].is === kind ? one[field] : 0), 0);
