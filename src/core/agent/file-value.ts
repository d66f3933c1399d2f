import { createHash } from 'node:crypto';
import { type AllowedHosts, isAllowed, noAllowedHosts } from '../allowed-hosts.ts';

/**
 * Images and files as values of variables: an https URL, or a data URL that contains the file.
 *
 * A data URL is stored once, in base64, beside the variables. In its place they have a *reference*, which looks like a data URL
 * without data: `data:image/png;bytes=68;sha256=…`. No caller can send one, because it is not a valid data URL.
 */

export type FileKind = 'image' | 'file';

/** What a record keeps of a file. Of a URL, the type and the contents are unknown. */
export interface FileInfo {
  readonly variable: string;
  /** Its media type. */
  readonly type?: string;
  readonly bytes?: number;
  readonly sha256?: string;
}

/** A file inside a value. */
export interface FileData {
  /** The media type, in lower case and without parameters. */
  readonly type: string;
  /** Padded, because some providers reject it without. */
  readonly base64: string;
}

export const fileUrlCharsMax = 8_192;

const token = "[!#$%&'*+.^_`|~0-9a-z-]+";
const referencePattern = /^data:([^;,]+);bytes=(\d+);sha256=([0-9a-f]{64})$/;

/**
 * What is wrong with a value, as the end of a sentence; null if it is a file of that kind.
 * @param allowed the hosts whose URLs may begin with `http:`
 */
export function fileProblem(
  kind: FileKind,
  value: unknown,
  allowed: AllowedHosts = noAllowedHosts,
): string | null {
  const what = kind === 'image' ? 'an image' : 'a file';
  if (typeof value !== 'string') return `must be ${what}: an https URL or a data URL`;
  if (!isDataUrl(value)) return urlProblem(what, value, allowed);
  const data = readDataUrl(value);
  if (data === null || data.base64 === '') {
    return `must be ${what}: the data URL needs a comma and then valid base64, as in data:image/png;base64,iVBORw…, or percent-encoded data`;
  }
  if (kind === 'image' && !data.type.startsWith('image/')) {
    return `must be an image, but the data URL has the media type ${data.type.slice(0, 100)}`;
  }
  return null;
}

function urlProblem(what: string, value: string, allowed: AllowedHosts): string | null {
  const url = URL.parse(value);
  const mayBePlain = url?.protocol === 'http:' && isAllowed(url, allowed);
  if (url?.protocol !== 'https:' && !mayBePlain) {
    return `must be ${what}: an https URL or a data URL; plain http is for hosts that CUELINE_ALLOWED_HOSTS names`;
  }
  if (url.username || url.password) return 'must be a URL without user name and password';
  return value.length > fileUrlCharsMax
    ? `must be a URL of at most ${fileUrlCharsMax} characters`
    : null;
}

/** Whether a URL parser takes a text as a data URL. */
export function isDataUrl(value: string): boolean {
  return /^[\0- ]*data:/i.test(value);
}

/**
 * The file in a data URL; null for any other text. As the Fetch standard decodes it: any parameters, percent-encoding also of
 * base64, base64 with white space and without padding, `text/plain` for a type that is missing or malformed, nothing after `#`.
 * The steps that would copy a long text are taken only where they change it.
 */
export function readDataUrl(value: string): FileData | null {
  const comma = isDataUrl(value) ? value.indexOf(',') : -1;
  if (comma < 0) return null;
  const hash = value.indexOf('#');
  if (hash >= 0 && hash < comma) return null;
  const head = withoutBreaks(value.slice(0, comma)).trimStart().slice('data:'.length).trim();
  const sent = value.slice(comma + 1, hash < 0 ? value.length : hash);
  const body = hash < 0 ? sent.trimEnd() : sent;
  const [marker = ''] = /; *base64$/i.exec(head) ?? [];
  const base64 =
    marker === '' ? base64Of(percentDecoded(withoutBreaks(body))) : canonicalBase64(body);
  if (base64 === null) return null;
  return { type: mediaType(head.slice(0, head.length - marker.length)), base64 };
}

function withoutBreaks(text: string): string {
  return text.replace(/[\t\n\r]/g, '');
}

const mediaTypePattern = new RegExp(`^(${token}/${token})[\\t ]*(;|$)`);

function mediaType(text: string): string {
  return mediaTypePattern.exec(text.toLowerCase())?.[1] ?? 'text/plain';
}

/** The data URL in which a file is stored, whatever form it was sent in. Reading it needs no decoding. */
export function storedDataUrl({ type, base64 }: FileData): string {
  return `data:${type};base64,${base64}`;
}

/**
 * As `readDataUrl`, of a valid value, without decoding what has the form of storage: attempts read files on the event loop. Others are
 * a default of an agent, which is short, and what a process of an earlier version has stored.
 */
export function readStoredFile(value: string): FileData | null {
  const [head = '', type = ''] = storedHead.exec(value) ?? [];
  const base64 = value.slice(head.length);
  const isStored = head !== '' && !decodedCharacters.some((each) => base64.includes(each));
  return isStored && isCanonicalEnd(base64) ? { type, base64 } : readDataUrl(value);
}

const storedHead = new RegExp(`^data:(${token}/${token});base64,`);
/** Valid base64 has only these beside those of its alphabet. */
const decodedCharacters = ['%', '#', ' ', '\t', '\n', '\r', '\f'];

function isCanonicalEnd(base64: string): boolean {
  const end = base64.slice(-4);
  return base64.length % 4 === 0 && base64Of(Buffer.from(end, 'base64')) === end;
}

/** What an encoder would have written; null if it is no base64. */
function canonicalBase64(body: string): string | null {
  const text = body.includes('%') ? Buffer.from(percentDecoded(body)).toString('latin1') : body;
  try {
    const bytes = Buffer.from(atob(text), 'latin1');
    return isCanonical(text, bytes) ? text : base64Of(bytes);
  } catch {
    return null;
  }
}

/** Whether base64 is what an encoder writes: its length and its end show that. */
function isCanonical(text: string, bytes: Uint8Array): boolean {
  if (text.length !== 4 * Math.ceil(bytes.length / 3)) return false;
  return text.endsWith(base64Of(bytes.subarray(3 * Math.floor((bytes.length - 1) / 3))));
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** Characters beyond ASCII stand for their bytes in UTF-8. */
function percentDecoded(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  // In place: what is decoded is never longer than what has been read.
  let length = Math.max(0, bytes.indexOf(percent));
  for (let at = length; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const high = byte === percent ? hexValue(bytes[at + 1]) : -1;
    const low = high < 0 ? -1 : hexValue(bytes[at + 2]);
    bytes[length++] = low < 0 ? byte : 16 * high + low;
    if (low >= 0) at += 2;
  }
  return bytes.subarray(0, length);
}

const percent = 0x25;

/** -1 if it is no hexadecimal digit. */
function hexValue(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** The file in a data URL that was found to be valid. */
export function requireFile(dataUrl: string): FileData {
  const data = readDataUrl(dataUrl);
  if (data === null) throw new Error('A stored file is not a data URL.');
  return data;
}

/** The reference to a file. */
export function referenceTo({ type, base64 }: FileData): string {
  const bytes = Buffer.from(base64, 'base64');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return `data:${type};bytes=${bytes.length};sha256=${sha256}`;
}

export function isReference(value: string): boolean {
  return referencePattern.test(value);
}

/** What a record keeps of a value: a URL, a data URL, or the reference to one. */
export function fileInfo(variable: string, value: string): FileInfo {
  if (!isDataUrl(value)) return { variable };
  const reference = isReference(value) ? value : referenceTo(requireFile(value));
  const [, type = '', bytes, sha256 = ''] = referencePattern.exec(reference) ?? [];
  return { variable, type, bytes: Number(bytes), sha256 };
}
