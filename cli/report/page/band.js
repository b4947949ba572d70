// The time line: a strip of all time above, a row for each thread below. Idle time is cut: `at` and `till` are the places
// of a call on the line, in microseconds of what is left.

const ROW = 18, AXIS = 18, STRIP = 52, LABELS = 190;
const STACKED = ["hit_memory", "hit_disk", "other", "bypassed", "verified", "not_kept", "miss"];

// Traces whose times lie within one another are of one clock, as far as one can tell; others begin at the same place.
function setTimes(model) {
	const files = model.files.filter((file) => file.calls > 0).sort((a, b) => a.first - b.first);
	let last = files[0].last;
	const isCommon = files.every((file) => {
		const touches = file.first <= last;
		last = Math.max(last, file.last);
		return touches;
	});
	for (const call of model.calls) {
		const zero = isCommon ? files[0].first : call.process.file.first;
		call.from = call.start - zero;
		call.to = call.end - zero;
	}
}

// Cuts each pause that is a twentieth of the line or more, longest first. Returns the pieces of time that are shown.
function cutIdle(calls) {
	const pauses = [], pieces = [{from: 0, at: 0}];
	let last = 0;
	for (const call of [...calls].sort((a, b) => a.from - b.from)) {
		pauses.push({from: last, to: call.from, length: call.from - last});
		last = Math.max(last, call.to);
	}
	pauses.sort((a, b) => b.length - a.length);
	let whole = Math.max(1, last), count = 0;
	for (; count < pauses.length && pauses[count].length > whole / 20; count++) {
		whole -= pauses[count].length;
	}
	for (const pause of pauses.slice(0, count).sort((a, b) => a.from - b.from)) {
		const piece = pieces[pieces.length - 1];
		piece.to = pause.from;
		pieces.push({from: pause.to, at: piece.at + piece.to - piece.from + Math.max(1, whole) / 60});
	}
	pieces[pieces.length - 1].to = last;
	return pieces;
}

function makeRows(model) {
	const rows = [], several = model.files.length > 1;
	for (const process of model.processes.values()) {
		[...process.threads].forEach(([tid, calls], n) => rows.push({
			label: n > 0 ? `thread ${visible(tid)}` : (several ? `${visible(process.file.name)}: ` : "") + processName(process),
			isInner: n > 0, calls: calls.sort((a, b) => a.at - b.at),
		}));
	}
	rows.forEach((row, n) => row.calls.forEach((call) => {
		call.row = n;
	}));
	return rows;
}

function makeBand(model, tell) {
	const overview = get("overview"), canvas = get("rows"), scroller = get("scroller"), band = {};
	setTimes(model);
	const pieces = cutIdle(model.calls), end = pieces[pieces.length - 1], whole = Math.max(1, end.at + end.to - end.from);
	for (const call of model.calls) {
		const piece = pieces.findLast(({from}) => from <= call.from);
		call.at = piece.at + call.from - piece.from;
		call.till = call.at + call.to - call.from;
	}
	const rows = makeRows(model);
	let from = 0, to = whole, width = 0, labels = 0, selected = null, hovered = null, asked = 0, colors = {};
	const xOf = (at) => labels + (at - from) / (to - from) * (width - labels);
	const atOf = (x) => from + (x - labels) / (width - labels) * (to - from);

	function measure() {
		width = get("band").clientWidth;
		labels = width > 640 ? LABELS : 0;
	}

	function prepare(element, height) {
		const ratio = window.devicePixelRatio || 1, context = element.getContext("2d");
		element.width = Math.round(width * ratio);
		element.height = Math.round(height * ratio);
		element.style.height = `${height}px`;
		context.scale(ratio, ratio);
		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		return context;
	}

	function fill(context, color, x, y, w, h, alpha = 1) {
		context.globalAlpha = alpha;
		context.fillStyle = colors[color];
		context.fillRect(x, y, w, h);
		context.globalAlpha = 1;
	}

	function write(context, color, text, ...place) {
		context.fillStyle = colors[color];
		context.fillText(text, ...place);
	}

	// How many calls of an outcome go on at once, on the average of each pixel.
	function countBins(outcome, bins) {
		const scale = bins.length / whole;
		for (const call of model.calls.filter((one) => one.shown && one.outcome === outcome)) {
			const x0 = call.at * scale, x1 = Math.max(call.till * scale, x0 + 0.02);
			for (let bin = Math.floor(x0); bin < x1 && bin < bins.length; bin++) {
				bins[bin] += Math.min(x1, bin + 1) - Math.max(x0, bin);
			}
		}
		return bins;
	}

	function drawOverview() {
		const context = prepare(overview, STRIP), n = Math.max(1, width - labels);
		const bins = STACKED.map((outcome) => countBins(outcome, new Float64Array(n)));
		const highest = bins[0].reduce((most, _, x) => Math.max(most, sum(bins, (of) => of[x])), 1e-9);
		for (let x = 0; x < n; x++) {
			let y = STRIP;
			bins.forEach((of, i) => {
				const h = of[x] > 0 ? Math.max(1, of[x] / highest * (STRIP - 6)) : 0;
				y -= h;
				fill(context, STACKED[i], labels + x, y, 1, h);
			});
		}
		const x0 = labels + from / whole * n, x1 = labels + to / whole * n;
		fill(context, "ink", labels, 0, x0 - labels, STRIP, 0.15);
		fill(context, "ink", x1, 0, width - x1, STRIP, 0.15);
		if (labels > 0) {
			write(context, "dim", "all, at most", 8, 16);
			write(context, "dim", `${highest.toFixed(highest < 9.95 ? 1 : 0)} at once`, 8, 33);
		}
	}

	// Ticks have the digits that tell them apart.
	function tickLabel(us, step) {
		const [unit, size] = step >= 1e6 || us >= 1e7 ? ["s", 1e6] : step >= 1e3 || us >= 1e4 ? ["ms", 1e3] : ["µs", 1];
		const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
		return us === 0 ? "0" : `${(us / size).toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits})} ${unit}`;
	}

	function drawAxis(context, height) {
		const goal = (to - from) / Math.max(2, (width - labels) / 110), power = 10 ** Math.floor(Math.log10(goal));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= goal);
		let free = labels;
		pieces.forEach((piece, i) => {
			const most = Math.min(piece.to, piece.from + to - piece.at);
			for (let n = Math.ceil(Math.max(piece.from, piece.from + from - piece.at) / step); n * step <= most; n++) {
				const x = Math.round(xOf(piece.at + n * step - piece.from));
				fill(context, "dim", x, 0, 1, height, 0.35);
				if (x >= free && x < width - 50) {
					write(context, "dim", tickLabel(n * step, step), x + 4, 9);
					free = x + 90;
				}
			}
			const x = Math.round(xOf(piece.at - whole / 400));
			for (let y = 0; i > 0 && x > labels && y < height; y += 6) {
				fill(context, "dim", x, y, 2, 3);
			}
		});
	}

	function drawCall(context, call, y) {
		const x0 = Math.max(xOf(call.at), -10), x1 = Math.max(x0 + 1, Math.min(xOf(call.till), width + 10));
		const isHigh = call.is !== "hit", top = y + (isHigh ? 2 : 6), height = isHigh ? ROW - 4 : ROW - 8;
		const waited = call.took > 0 ? Math.min(1, call.wait / call.took) * (x1 - x0) : 0;
		fill(context, "wait", x0, top, waited, height, 0.3);
		fill(context, call.outcome, Math.min(x0 + waited, x1 - 1), top, Math.max(1, x1 - x0 - waited), height);
		if (call.outcome === "bypassed" && x1 - x0 > 5) {
			fill(context, "page", x0 + 1.5, top + 1.5, x1 - x0 - 3, height - 3);
		}
		if (isHigh && x1 - x0 > 40) {
			context.save();
			context.beginPath();
			context.rect(x0, top, x1 - x0 - 3, height);
			context.clip();
			write(context, call.outcome === "bypassed" ? "ink" : "onBar", shorten(visible(call.title), 60), Math.max(x0, labels) + 4, top + height / 2 + 0.5);
			context.restore();
		}
	}

	function drawRow(context, row, y) {
		const inWindow = row.calls.filter((call) => call.shown && call.till >= from && call.at <= to);
		if (!row.isInner) {
			fill(context, "line", 0, y, width, 1);
		}
		context.save();
		context.beginPath();
		context.rect(labels, y, width - labels, ROW);
		context.clip();
		// a hit does not hide a compile that is narrower than a pixel
		for (const isHit of [true, false]) {
			inWindow.filter((call) => (call.is === "hit") === isHit).forEach((call) => drawCall(context, call, y));
		}
		for (const call of inWindow.filter((one) => one === selected || one === hovered)) {
			const x0 = Math.max(labels, xOf(call.at)), x1 = Math.min(width, xOf(call.till));
			context.strokeStyle = colors.focus;
			context.lineWidth = call === selected ? 2 : 1;
			context.strokeRect(x0 - 1.5, y + 1, Math.max(1, x1 - x0) + 3, ROW - 2);
		}
		context.restore();
		if (labels > 0) {
			write(context, row.isInner ? "dim" : "ink", row.label, row.isInner ? 20 : 8, y + ROW / 2 + 1, labels - 24);
		}
	}

	function draw() {
		const style = getComputedStyle(document.documentElement);
		asked = 0;
		for (const name of ["page", "ink", "dim", "line", "focus", "wait", "onBar", ...STACKED]) {
			colors[name] = style.getPropertyValue(`--${name}`).trim();
		}
		measure();
		drawOverview();
		const most = Math.max(120, Math.round(window.innerHeight * 0.6)), height = Math.min(rows.length * ROW + AXIS, most);
		const context = prepare(canvas, height), scroll = scroller.scrollTop;
		get("sheet").style.height = `${rows.length * ROW + AXIS}px`;
		drawAxis(context, height);
		context.beginPath();
		context.rect(0, AXIS, width, height);
		context.clip();
		const first = Math.floor(scroll / ROW);
		rows.slice(first, first + height / ROW + 1).forEach((row, n) => drawRow(context, row, AXIS + (first + n) * ROW - scroll));
	}

	band.redraw = () => {
		asked = asked || requestAnimationFrame(draw);
	};

	band.show = (begin, stop) => {
		const least = Math.max(0.5, whole * 1e-10); // as far as numbers tell times apart
		const span = Math.min(whole, Math.max(least, stop - begin)), middle = (begin + stop) / 2;
		from = Math.min(Math.max(0, middle - span / 2), whole - span);
		to = from + span;
		band.redraw();
	};

	band.showAll = () => band.show(0, whole);

	band.zoom = (factor, at = selected ? selected.at : (from + to) / 2) => band.show(at - (at - from) * factor, at + (to - at) * factor);

	band.select = (call) => {
		selected = call;
		tell(call);
		if (call && (call.till < from || call.at > to)) {
			band.show(call.at - (to - from) / 2, call.at + (to - from) / 2);
		}
		if (call && (call.row * ROW < scroller.scrollTop || (call.row + 1) * ROW + AXIS > scroller.scrollTop + canvas.clientHeight)) {
			scroller.scrollTop = Math.max(0, call.row * ROW - canvas.clientHeight / 2);
		}
		band.redraw();
	};

	band.showCall = (call) => {
		const span = Math.max(20, (call.till - call.at) * 1.6), middle = (call.at + call.till) / 2;
		band.show(middle - span / 2, middle + span / 2);
		band.select(call);
	};

	// The call under the pointer, or the longest of those within three pixels.
	function find(event) {
		const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top - AXIS;
		const row = y < 0 || x < labels ? null : rows[Math.floor((y + scroller.scrollTop) / ROW)];
		const near = row ? row.calls.filter((call) => call.shown && call.at <= atOf(x + 3) && call.till >= atOf(x - 3)) : [];
		const inside = near.filter((call) => call.at <= atOf(x) && call.till >= atOf(x));
		return (inside.length > 0 ? inside : near).sort((a, b) => b.took - a.took)[0] || null;
	}

	// The next call of the row, or of the next row that has any the nearest in time; the same one if there is none.
	function neighbour(key) {
		const step = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
		if (selected && (key === "ArrowLeft" || key === "ArrowRight")) {
			const calls = rows[selected.row].calls.filter((call) => call.shown || call === selected);
			return calls[calls.indexOf(selected) + step] || selected;
		}
		const at = selected ? selected.at : from, shown = (row) => row.calls.filter((call) => call.shown);
		for (let r = selected ? selected.row + step : 0; r >= 0 && r < rows.length; r += step) {
			if (shown(rows[r]).length > 0) {
				return shown(rows[r]).reduce((best, call) => Math.abs(call.at - at) < Math.abs(best.at - at) ? call : best);
			}
		}
		return selected;
	}

	const keys = {
		"+": () => band.zoom(0.5), "=": () => band.zoom(0.5), "-": () => band.zoom(2), "0": band.showAll,
		Enter: () => selected && band.showCall(selected), Escape: () => band.select(null),
	};
	for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
		keys[key] = () => band.select(neighbour(key));
	}

	function pressed(event) {
		if (Object.hasOwn(keys, event.key) && !event.ctrlKey && !event.altKey && !event.metaKey) {
			keys[event.key]();
			event.preventDefault();
		}
	}

	// Calls moved(event, event before) while the pointer is held, and clicked(event) if it has not moved.
	function listenToDrag(element, moved, clicked) {
		let held = null, before = null, hasMoved = false;
		element.addEventListener("pointerdown", (event) => {
			held = before = event;
			hasMoved = false;
			element.setPointerCapture(event.pointerId);
		});
		element.addEventListener("pointermove", (event) => {
			hasMoved = hasMoved || (held && Math.abs(event.clientX - held.clientX) > 3);
			if (held && hasMoved) {
				moved(event, before, held);
				before = event;
			}
		});
		element.addEventListener("pointerup", (event) => {
			held = null;
			if (!hasMoved) {
				clicked(event);
			}
		});
		element.addEventListener("pointercancel", () => {
			held = null;
		});
	}

	function hover(call) {
		if (call !== hovered) {
			hovered = call;
			tell(call || selected);
			band.redraw();
		}
	}

	measure();
	listenToDrag(canvas, (event, before) => {
		const shift = atOf(before.clientX) - atOf(event.clientX);
		band.show(from + shift, to + shift);
	}, (event) => band.select(find(event)));
	const placeOf = (event) => (event.clientX - overview.getBoundingClientRect().left - labels) / (width - labels) * whole;
	listenToDrag(overview, (event, _, held) => band.show(Math.min(placeOf(held), placeOf(event)), Math.max(placeOf(held), placeOf(event))),
		(event) => band.show(placeOf(event) - (to - from) / 2, placeOf(event) + (to - from) / 2));
	canvas.addEventListener("pointermove", (event) => hover(event.buttons ? hovered : find(event)));
	canvas.addEventListener("pointerleave", () => hover(null));
	canvas.addEventListener("keydown", pressed);
	canvas.addEventListener("wheel", (event) => {
		if (event.ctrlKey || event.metaKey) {
			band.zoom(1.0015 ** event.deltaY, atOf(event.clientX - canvas.getBoundingClientRect().left));
			event.preventDefault();
		}
	}, {passive: false});
	scroller.addEventListener("scroll", band.redraw);
	window.addEventListener("resize", band.redraw);
	window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", band.redraw);
	return band;
}
