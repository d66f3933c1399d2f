import { createHash } from 'node:crypto';
import { type AllowedHosts, isAllowed, noAllowedHosts } from '../allowed-hosts.ts';

/**
 * Images and files as values of variables: an https URL, or a data URL that contains the file.
 *
 * A data URL is stored once, beside the variables. In its place they have a *reference*, which looks like a data URL
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

const token = "[!#$%&'*+.^_`|~0-9a-z-]+";
const mediaTypePattern = new RegExp(`^(${token}/${token})[\\t ]*(;|$)`);

function mediaType(text: string): string {
  return mediaTypePattern.exec(text.toLowerCase())?.[1] ?? 'text/plain';
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
  const sent = Buffer.from(text);
  const bytes = new Uint8Array(sent.length);
  let length = 0;
  for (let at = 0; at < sent.length; at++) {
    const byte = sent[at] ?? 0;
    const hex = byte === percent ? sent.toString('latin1', at + 1, at + 3) : '';
    const isEncoded = /^[0-9a-f]{2}$/i.test(hex);
    bytes[length++] = isEncoded ? Number.parseInt(hex, 16) : byte;
    if (isEncoded) at += 2;
  }
  return bytes.subarray(0, length);
}

const percent = 0x25;

/** The reference to the file in a data URL. */
export function referenceTo(dataUrl: string): string {
  const data = readDataUrl(dataUrl);
  if (data === null) throw new Error('A stored file is not a data URL.');
  const { type, base64 } = data;
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
  const reference = isReference(value) ? value : referenceTo(value);
  const [, type = '', bytes, sha256 = ''] = referencePattern.exec(reference) ?? [];
  return { variable, type, bytes: Number(bytes), sha256 };
}
