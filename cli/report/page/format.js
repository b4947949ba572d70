// Numbers, times and texts for people, and elements made of them. A text never becomes markup: there is no innerHTML.

const grouped = new Intl.NumberFormat("en-US");
const count = (n) => grouped.format(n);
const counted = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + "s"}`;

// Three digits and a unit, of nanoseconds.
function time(ns) {
	const units = [[172800e9, 86400e9, "days"], [7200e9, 3600e9, "h"], [120e9, 60e9, "min"], [1e9, 1e9, "s"], [1e6, 1e6, "ms"],
		[1e3, 1e3, "µs"], [0, 1, "ns"]];
	if (!(Math.abs(ns) > 0)) {
		return "0 s";
	}
	const [, size, unit] = units.find(([from]) => Math.abs(ns) >= from);
	const value = ns / size;
	if (Math.abs(value) >= 1e7) {
		return `${value.toExponential(1)} ${unit}`;
	}
	const digits = size === 1 || Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
	return `${digits > 0 || Math.abs(value) < 1000 ? value.toFixed(digits) : count(Math.round(value))} ${unit}`;
}

function bytes(n) {
	let unit = 0;
	for (; n >= 1023.95 && unit < 4; unit++) {
		n /= 1024;
	}
	return unit === 0 ? counted(n, "byte") : `${n.toFixed(1)} ${["", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}

const percent = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(part === whole ? 0 : 1)} %` : "–";

// What cannot be seen, or changes how the rest is read (direction marks among it), is spelt; a byte that was no UTF-8 too.
function visible(text) {
	return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
		(c) => {
			const code = c.charCodeAt(0);
			return code >= 0xdc80 && code <= 0xdcff ? `\\x${(code - 0xdc00).toString(16)}` : `\\u${code.toString(16).padStart(4, "0")}`;
		});
}

function shorten(text, most) {
	return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// make("td.number", {title: "..."}, child, "text"); functions are listeners.
function make(what, attributes, ...children) {
	const [tag, ...classes] = what.split(".");
	const element = document.createElement(tag);
	if (classes.length > 0) {
		element.className = classes.join(" ");
	}
	for (const [name, value] of Object.entries(attributes || {})) {
		if (typeof value === "function") {
			element.addEventListener(name, value);
		} else if (value !== undefined && value !== false) {
			element.setAttribute(name, value === true ? "" : value);
		}
	}
	element.append(...children.flat().filter((child) => child !== undefined && child !== ""));
	return element;
}

const get = (id) => document.getElementById(id);
