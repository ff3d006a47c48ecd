// Requests to the service that handed out the page. The token stays in this module: it is in no
// address and no storage, and gone when the page is closed.

let token = "";

export class Refusal extends Error {
  constructor(sentence, status, body = "") {
    super(sentence);
    Object.assign(this, { status, body });
  }
}

export function setToken(words) {
  if (!/^[\x21-\x7e]*$/.test(words)) throw new Refusal("A token has letters, digits, dashes and underscores only.", 0);
  token = words;
}

export async function ask(method, path, body) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { method, headers, body: body && JSON.stringify(body), cache: "no-store", credentials: "omit" };
  let response, text;
  try {
    response = await fetch(`.${path}`, options);
    text = await response.text();
  } catch {
    throw new Refusal("The service does not answer. It may have stopped; this page tries again by itself.", 0);
  }
  if (!response.ok) throw new Refusal(sentenceOf(text) ?? `The service answered with status ${response.status}.`, response.status, text);
  return text;
}

function sentenceOf(text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return null; // a proxy between the page and the service answered by itself
  }
}

export async function askJson(method, path, body) {
  const text = await ask(method, path, body);
  return text ? JSON.parse(text) : null;
}

export async function askLines(path) {
  const text = await ask("GET", path);
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

export function pathOf(model, rest = "") {
  return `/v1/models/${encodeURIComponent(model)}${rest}`;
}

// 128 random bits. (crypto.randomUUID is missing on pages that come without TLS from another host.)
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
