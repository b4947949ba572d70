// The time line: a strip of all time above, rows of threads below. Where calls are narrower than a pixel, a pixel is of
// the outcome that has the most time in it.

const ROW = 18, FILE_ROW = 22, LABELS = 190, LABEL_ABOVE = 14;

function makeBand(model, shown, tell) {
	const overview = get("overview"), canvas = get("rows"), scroller = get("scroller"), sheet = get("sheet");
	const band = {from: 0, to: 1, whole: 1, selected: -1, hovered: -1, common: false};
	let rows = [], colors = {}, bins = null, width = 0, labels = 0, asked = 0, tops = [];

	const zero = (file) => band.common ? Math.min(...model.files.filter((f) => f.calls > 0).map((f) => f.first)) : model.files[file].first;
	const xOf = (t) => labels + (t - band.from) / (band.to - band.from) * (width - labels);
	const tOf = (x) => band.from + (x - labels) / (width - labels) * (band.to - band.from);
	const zeros = () => model.files.map((_, file) => zero(file));
	let base = zeros();

	function readColors() {
		const style = getComputedStyle(document.documentElement);
		for (const name of ["page", "ink", "dim", "line", "raised", "focus", ...OUTCOMES.map((outcome) => outcome.name)]) {
			colors[name] = style.getPropertyValue(`--${name}`).trim();
		}
	}

	function makeRows() {
		rows = [];
		const byFirst = (a, b) => a.first - b.first;
		for (let file = 0; file < model.files.length; file++) {
			const processes = model.processes.filter((process) => process.file === file).sort(byFirst);
			if (model.files.length > 1) {
				rows.push({file, label: visible(model.files[file].name), head: true, calls: new Uint32Array(0), waits: []});
			}
			for (const process of processes) {
				const threads = process.threads.slice().sort(byFirst);
				threads.forEach((thread, n) => thread.lanes.forEach((calls, lane) => {
					const name = processName(model, process);
					const of = thread.label !== "" ? visible(thread.label) : `thread ${visible(thread.tid)}`;
					rows.push({file, thread, calls, waits: lane === 0 ? thread.waits : [], inner: n > 0 || lane > 0,
						label: lane > 0 ? "" : n === 0 ? (process.label !== "" ? name : `process ${name}`) : of});
				}));
			}
		}
	}

	// Where there is no room for labels beside the rows, they stand above them.
	function stack() {
		tops = [0];
		for (const row of rows) {
			row.above = labels === 0 && !row.head && row.label !== "" ? LABEL_ABOVE : 0;
			tops.push(tops[tops.length - 1] + (row.head ? FILE_ROW : ROW + row.above));
		}
	}

	function setWhole() {
		base = zeros();
		band.whole = 1;
		model.files.forEach((file, i) => {
			if (file.calls > 0) {
				band.whole = Math.max(band.whole, file.last - base[i]);
			}
		});
	}

	// Which part of a call was spent on waiting.
	const waitedOf = (i) => model.wait[i] > 0 ? Math.min(1, model.wait[i] / 1e3 / (model.end[i] - model.start[i])) : 0;

	function fillBins(into, x0, x1) {
		for (let bin = Math.floor(x0); bin < x1 && bin < into.length; bin++) {
			into[bin] += Math.min(x1, bin + 1) - Math.max(x0, bin);
		}
	}

	function fill() {
		const n = Math.max(1, Math.ceil(width - labels));
		bins = OUTCOMES.map(() => new Float64Array(n));
		for (let i = 0; i < model.count; i++) {
			if (!shown.passes[i] || model.outcome[i] === OUTCOME.wait) {
				continue;
			}
			const zeroOf = base[callProcess(model, i).file], scale = n / band.whole;
			const x0 = (model.start[i] - zeroOf) * scale, x1 = Math.max((model.end[i] - zeroOf) * scale, x0 + 0.02);
			const waited = x0 + (x1 - x0) * waitedOf(i);
			fillBins(bins[OUTCOME.wait], x0, waited);
			fillBins(bins[model.outcome[i]], waited, x1);
		}
		bins.highest = 0;
		for (let bin = 0; bin < n; bin++) {
			bins.highest = Math.max(bins.highest, bins.reduce((sum, of) => sum + of[bin], 0));
		}
	}

	function prepare(element, height) {
		const ratio = window.devicePixelRatio || 1;
		const w = Math.round(width * ratio), h = Math.round(height * ratio);
		if (element.width !== w || element.height !== h) {
			element.width = w;
			element.height = h;
			element.style.height = `${height}px`;
		}
		const context = element.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		return context;
	}

	function drawOverview() {
		const height = 52, context = prepare(overview, height), n = bins[0].length;
		for (let bin = 0; bin < n; bin++) {
			let y = height;
			for (const outcome of ["hit_memory", "hit_disk", "wait", "other", "bypassed", "verified", "not_kept", "miss"]) {
				const value = bins[OUTCOME[outcome]][bin];
				if (value > 0) {
					const h = Math.max(1, value / bins.highest * (height - 6));
					context.fillStyle = colors[outcome];
					context.globalAlpha = outcome === "wait" ? 0.3 : 1;
					context.fillRect(labels + bin, y - h, 1, h);
					context.globalAlpha = 1;
					y -= h;
				}
			}
		}
		const scale = (width - labels) / band.whole, x0 = labels + band.from * scale, x1 = labels + band.to * scale;
		if (band.to - band.from < band.whole * 0.9999) {
			context.fillStyle = colors.ink;
			context.globalAlpha = 0.12;
			context.fillRect(labels, 0, x0 - labels, height);
			context.fillRect(x1, 0, width - x1, height);
			context.globalAlpha = 1;
			context.fillRect(x0 - 1, 0, 1, height);
			context.fillRect(x1, 0, 1, height);
		}
		if (labels > 0) {
			context.fillStyle = colors.dim;
			context.fillText("all, at most", 8, 16);
			context.fillText(`${(bins.highest).toFixed(bins.highest < 9.95 ? 1 : 0)} at once`, 8, 33);
		}
	}

	function drawAxis(context, height) {
		const span = band.to - band.from, goal = span / Math.max(2, (width - labels) / 110);
		const power = 10 ** Math.floor(Math.log10(goal)), step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= goal);
		context.fillStyle = colors.dim;
		for (let n = Math.ceil(band.from / step); n * step <= band.to; n++) {
			const t = n * step;
			const x = Math.round(xOf(t));
			context.globalAlpha = 0.35;
			context.fillRect(x, 0, 1, height);
			context.globalAlpha = 1;
			if (x < width - 50) {
				context.fillText(axisTime(t, step), x + 4, 9);
			}
		}
	}

	// Ticks have the digits that tell them apart.
	function axisTime(us, step) {
		const [unit, size] = step >= 1e6 || us >= 1e7 ? ["s", 1e6] : step >= 1e3 || us >= 1e4 ? ["ms", 1e3] : ["µs", 1];
		const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
		return us === 0 ? "0" : `${(us / size).toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits})} ${unit}`;
	}

	// The first of a lane that has not ended by then.
	function firstAfter(calls, t) {
		let low = 0, high = calls.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (model.end[calls[middle]] < t) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}

	function paint(context, i, x0, x1, y) {
		const outcome = OUTCOMES[model.outcome[i]], tall = outcome.is !== "hit";
		const top = y + (tall ? 2 : 6), height = tall ? ROW - 4 : ROW - 8, wide = x1 - x0;
		const waited = wide * waitedOf(i);
		context.fillStyle = colors.wait;
		context.globalAlpha = 0.3;
		context.fillRect(x0, top, waited, height);
		context.globalAlpha = 1;
		context.fillStyle = colors[outcome.name];
		context.fillRect(x0 + Math.min(waited, wide - 2), top, Math.max(1, wide - waited), height);
		if (wide > 5 && (outcome.name === "bypassed" || outcome.name === "not_kept")) {
			context.fillStyle = colors.page;
			if (outcome.name === "bypassed") {
				context.fillRect(x0 + 1.5, top + 1.5, wide - 3, height - 3);
			} else {
				context.fillRect(x0, top + height - 4, wide, 1.5);
			}
		}
		if (wide > 40 && tall) {
			context.save();
			context.beginPath();
			context.rect(Math.max(x0, labels), top, Math.min(x1, width) - Math.max(x0, labels) - 3, height);
			context.clip();
			context.fillStyle = outcome.name === "bypassed" ? colors.ink : "#000";
			context.font = "600 11px system-ui, sans-serif";
			context.fillText(shorten(visible(model.texts[model.name[i]]), 60), Math.max(x0, labels) + 4, top + height / 2 + 0.5);
			context.restore();
		}
	}

	function drawCalls(context, row, y) {
		const zeroOf = base[row.file], scale = (width - labels) / (band.to - band.from), times = new Float64Array(OUTCOMES.length);
		let pixel = -1, first = -1;
		const flush = () => {
			if (pixel >= 0) {
				let most = 0;
				for (let o = 1; o < times.length; o++) {
					most = times[o] > times[most] ? o : most;
				}
				const tall = OUTCOMES[most].is !== "hit";
				context.fillStyle = colors[OUTCOMES[most].name];
				context.fillRect(pixel, y + (tall ? 2 : 6), 1, tall ? ROW - 4 : ROW - 8);
				times.fill(0);
				pixel = -1;
			}
		};
		for (let n = firstAfter(row.calls, band.from + zeroOf); n < row.calls.length; n++) {
			const i = row.calls[n];
			const x0 = labels + (model.start[i] - zeroOf - band.from) * scale;
			if (x0 > width) {
				break;
			}
			if (!shown.passes[i]) {
				continue;
			}
			const x1 = labels + (model.end[i] - zeroOf - band.from) * scale;
			if (x1 - x0 < 1.5) {
				if (Math.floor(x0) !== pixel) {
					flush();
					pixel = Math.floor(x0);
				}
				times[model.outcome[i]] += x1 - x0 + 1e-9;
			} else {
				flush();
				paint(context, i, Math.max(x0, -10), Math.min(x1, width + 10), y);
			}
			first = first < 0 ? i : first;
		}
		flush();
		for (const i of row.waits) {
			const x0 = xOf(model.start[i] - zeroOf), x1 = xOf(model.end[i] - zeroOf);
			if (x1 >= labels && x0 <= width && shown.passes[i]) {
				context.fillStyle = colors.wait;
				context.fillRect(x0, y + ROW - 4, Math.max(1, x1 - x0), 2);
			}
		}
	}

	function drawRows() {
		const axis = 18, height = Math.min(tops[rows.length], Math.max(120, Math.round(window.innerHeight * 0.6) - axis)) + axis;
		const context = prepare(canvas, height), scroll = scroller.scrollTop;
		sheet.style.height = `${tops[rows.length] + axis}px`;
		drawAxis(context, height);
		context.save();
		context.beginPath();
		context.rect(0, axis, width, height - axis);
		context.clip();
		for (let r = 0; r < rows.length; r++) {
			const y = tops[r] + axis - scroll, row = rows[r];
			if (tops[r + 1] + axis - scroll < axis || y > height) {
				continue;
			}
			if (!row.inner) {
				context.fillStyle = colors.line;
				context.fillRect(0, y, width, 1);
			}
			if (row.head) {
				context.fillStyle = colors.raised;
				context.fillRect(0, y + 1, width, FILE_ROW - 1);
				context.fillStyle = colors.ink;
				context.font = "600 12px system-ui, sans-serif";
				context.fillText(shorten(row.label, 120), 8, y + FILE_ROW / 2 + 1);
				context.font = "12px system-ui, sans-serif";
				continue;
			}
			context.save();
			context.beginPath();
			context.rect(labels, y + row.above, width - labels, ROW);
			context.clip();
			drawCalls(context, row, y + row.above);
			context.restore();
			context.fillStyle = row.inner ? colors.dim : colors.ink;
			if (labels > 0) {
				context.fillText(row.label, row.inner ? 20 : 8, y + ROW / 2 + 1, labels - 24);
			} else {
				context.fillText(shorten(row.label, 60), 4, y + LABEL_ABOVE / 2 + 2);
			}
		}
		mark(context, band.hovered, axis - scroll, 1);
		mark(context, band.selected, axis - scroll, 2);
		context.restore();
		if (labels > 0) {
			context.fillStyle = colors.line;
			context.fillRect(labels - 1, 0, 1, height);
		}
	}

	function mark(context, i, y, thick) {
		const r = i >= 0 ? rowOf(i) : -1;
		if (r >= 0) {
			const zeroOf = base[rows[r].file], x0 = Math.max(labels, xOf(model.start[i] - zeroOf));
			const x1 = Math.min(width, xOf(model.end[i] - zeroOf));
			if (x1 >= labels && x0 <= width) {
				context.strokeStyle = colors.focus;
				context.lineWidth = thick;
				context.strokeRect(x0 - 1.5, tops[r] + rows[r].above + y + 1, Math.max(1, x1 - x0) + 3, ROW - 2);
			}
		}
	}

	const rowOf = (i) => rows.findIndex((row) => row.thread && row.thread.index === model.thread[i] &&
		(row.calls.includes(i) || (row.waits.includes(i) && row.label !== "")));

	function draw() {
		asked = 0;
		drawOverview();
		drawRows();
	}

	band.redraw = () => {
		asked = asked || requestAnimationFrame(draw);
	};

	band.refill = () => {
		width = get("band").clientWidth;
		labels = width > 640 ? LABELS : 0;
		stack();
		fill();
		band.redraw();
	};

	band.setClock = (common) => {
		band.common = common;
		setWhole();
		band.show(0, band.whole);
		band.refill();
	};

	band.show = (from, to) => {
		const least = Math.max(0.5, band.whole * 1e-10); // as far as numbers tell times apart
		const span = Math.min(band.whole, Math.max(least, to - from)), middle = (from + to) / 2;
		band.from = Math.min(Math.max(0, middle - span / 2), band.whole - span);
		band.to = band.from + span;
		band.redraw();
		tell.window();
	};

	band.zoom = (factor, t) => {
		const at = t === undefined ? (band.from + band.to) / 2 : t;
		band.show(at - (at - band.from) * factor, at + (band.to - at) * factor);
	};

	band.inWindow = (i) => {
		const zeroOf = base[callProcess(model, i).file];
		return model.end[i] - zeroOf >= band.from && model.start[i] - zeroOf <= band.to;
	};

	band.timeOf = (i) => model.start[i] - base[callProcess(model, i).file];

	function reveal(i) {
		const r = rowOf(i), height = canvas.clientHeight - 18;
		if (r >= 0 && (tops[r] < scroller.scrollTop || tops[r + 1] > scroller.scrollTop + height)) {
			scroller.scrollTop = Math.max(0, tops[r] - height / 2);
		}
		const t = band.timeOf(i), end = t + model.end[i] - model.start[i];
		if (end < band.from || t > band.to) {
			const span = band.to - band.from;
			band.show((t + end - span) / 2, (t + end + span) / 2);
		}
	}

	band.select = (i) => {
		band.selected = i;
		if (i >= 0) {
			reveal(i);
		}
		tell.call(i, true);
		band.redraw();
	};

	band.showCall = (i) => {
		const t = band.timeOf(i), span = Math.max(20, (model.end[i] - model.start[i]) * 1.6);
		const middle = t + (model.end[i] - model.start[i]) / 2;
		band.show(middle - span / 2, middle + span / 2);
		band.select(i);
	};

	// The call under the pointer, or the longest of those within three pixels.
	function hit(event) {
		const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top - 18 + scroller.scrollTop;
		const r = tops.findIndex((top, n) => n < rows.length && y >= top && y < tops[n + 1]);
		if (r < 0 || x < labels || event.clientY - box.top < 18) {
			return -1;
		}
		const row = rows[r], zeroOf = base[row.file], slack = (tOf(x + 3) - tOf(x)), t = tOf(x) + zeroOf;
		let best = -1;
		for (let n = firstAfter(row.calls, t - slack); n < row.calls.length && model.start[row.calls[n]] <= t + slack; n++) {
			const i = row.calls[n];
			const inside = (j) => model.start[j] <= t && model.end[j] >= t;
			if (shown.passes[i] && (best < 0 || (inside(i) && !inside(best)) ||
				(inside(i) === inside(best) && model.end[i] - model.start[i] > model.end[best] - model.start[best]))) {
				best = i;
			}
		}
		return best;
	}

	function next(step) {
		const r = band.selected >= 0 ? rowOf(band.selected) : -1;
		if (r < 0) {
			return nearest(0, 1);
		}
		const calls = rows[r].calls;
		for (let n = calls.indexOf(band.selected) + step; n >= 0 && n < calls.length; n += step) {
			if (shown.passes[calls[n]]) {
				return calls[n];
			}
		}
		return band.selected;
	}

	// In the next row that has any: the one nearest in time.
	function nearest(r, step) {
		const t = band.selected >= 0 ? band.timeOf(band.selected) : band.from;
		for (; r >= 0 && r < rows.length; r += step) {
			let best = -1;
			for (const i of rows[r].calls) {
				if (shown.passes[i] && (best < 0 || Math.abs(band.timeOf(i) - t) < Math.abs(band.timeOf(best) - t))) {
					best = i;
				}
			}
			if (best >= 0) {
				return best;
			}
		}
		return band.selected;
	}

	function key(event) {
		const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1}[event.key];
		if (event.ctrlKey || event.altKey || event.metaKey) {
			return;
		}
		if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
			band.select(next(step));
		} else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
			const r = band.selected >= 0 ? rowOf(band.selected) + step : 0;
			band.select(nearest(r, step));
		} else if (event.key === "+" || event.key === "=" || event.key === "-") {
			band.zoom(event.key === "-" ? 2 : 0.5, band.selected >= 0 ? band.timeOf(band.selected) : undefined);
		} else if (event.key === "0") {
			band.show(0, band.whole);
		} else if (event.key === "Enter" && band.selected >= 0) {
			band.showCall(band.selected);
		} else if (event.key === "Escape") {
			band.select(-1);
		} else {
			return;
		}
		event.preventDefault();
	}

	function listen() {
		const pointers = new Map();
		let moved = 0;
		canvas.addEventListener("pointerdown", (event) => {
			pointers.set(event.pointerId, event);
			moved = 0;
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", (event) => {
			const before = pointers.get(event.pointerId);
			if (!before) {
				const i = hit(event);
				if (i !== band.hovered) {
					band.hovered = i;
					tell.call(i >= 0 ? i : band.selected, false);
					band.redraw();
				}
				return;
			}
			const others = [...pointers.values()].filter((one) => one.pointerId !== event.pointerId);
			pointers.set(event.pointerId, event);
			moved += Math.abs(event.clientX - before.clientX);
			const left = canvas.getBoundingClientRect().left;
			if (others.length === 1) {
				const was = Math.abs(before.clientX - others[0].clientX), is = Math.abs(event.clientX - others[0].clientX);
				band.zoom(Math.max(10, was) / Math.max(10, is), tOf((event.clientX + others[0].clientX) / 2 - left));
			} else if (moved > 3) {
				const shift = tOf(before.clientX) - tOf(event.clientX);
				band.show(band.from + shift, band.to + shift);
			}
		});
		const up = (event) => {
			if (pointers.delete(event.pointerId) && moved <= 3 && event.type === "pointerup") {
				band.select(hit(event));
			}
		};
		canvas.addEventListener("pointerup", up);
		canvas.addEventListener("pointercancel", up);
		canvas.addEventListener("pointerleave", () => {
			band.hovered = -1;
			tell.call(band.selected, false);
			band.redraw();
		});
		canvas.addEventListener("dblclick", (event) => band.zoom(0.4, tOf(event.clientX - canvas.getBoundingClientRect().left)));
		canvas.addEventListener("keydown", key);
		canvas.addEventListener("wheel", (event) => {
			const across = event.shiftKey ? event.deltaY : event.deltaX;
			if (event.ctrlKey || event.metaKey) {
				band.zoom(1.0015 ** event.deltaY, tOf(event.clientX - canvas.getBoundingClientRect().left));
			} else if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
				const shift = across / (width - labels) * (band.to - band.from);
				band.show(band.from + shift, band.to + shift);
			} else {
				return;
			}
			event.preventDefault();
		}, {passive: false});
		let grabbed = -1;
		const place = (event) => (event.clientX - overview.getBoundingClientRect().left - labels) / (width - labels) * band.whole;
		overview.addEventListener("pointerdown", (event) => {
			grabbed = place(event);
			overview.setPointerCapture(event.pointerId);
		});
		overview.addEventListener("pointermove", (event) => {
			if (grabbed >= 0 && Math.abs(place(event) - grabbed) > band.whole / (width - labels) * 3) {
				band.show(Math.min(grabbed, place(event)), Math.max(grabbed, place(event)));
			}
		});
		overview.addEventListener("pointerup", (event) => {
			const t = place(event), span = band.to - band.from;
			if (grabbed >= 0 && Math.abs(t - grabbed) <= band.whole / (width - labels) * 3) {
				band.show(t - span / 2, t + span / 2);
			}
			grabbed = -1;
		});
		scroller.addEventListener("scroll", band.redraw);
		window.addEventListener("resize", band.refill);
		window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
			readColors();
			band.redraw();
		});
	}

	readColors();
	makeRows();
	setWhole();
	band.to = band.whole;
	listen();
	return band;
}
