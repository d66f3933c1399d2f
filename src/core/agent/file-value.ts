import { createHash } from 'node:crypto';

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
  readonly base64: string;
}

export const fileUrlCharsMax = 8_192;

const beginning = /^data:([a-z0-9][\w.+-]*\/[\w.+-]+)((?:;[^;,"]*)*),/i;
const referencePattern = /^data:([^;,]+);bytes=(\d+);sha256=([0-9a-f]{64})$/;

/** What is wrong with a value, as the end of a sentence; null if it is a file of that kind. */
export function fileProblem(kind: FileKind, value: unknown): string | null {
  const what = kind === 'image' ? 'an image' : 'a file';
  if (typeof value !== 'string') return `must be ${what}: an https URL or a data URL`;
  if (!/^data:/i.test(value)) return urlProblem(what, value);
  const data = readDataUrl(value);
  if (data === null) {
    return `must be ${what}: the data URL needs a media type and valid base64, as in data:image/png;base64,iVBORw…`;
  }
  if (kind === 'image' && !data.type.startsWith('image/')) {
    return `must be an image, but the data URL has the media type ${data.type.slice(0, 100)}`;
  }
  return null;
}

function urlProblem(what: string, value: string): string | null {
  const url = URL.parse(value);
  if (url?.protocol !== 'https:') return `must be ${what}: an https URL or a data URL`;
  if (url.username || url.password) return 'must be a URL without user name and password';
  return value.length > fileUrlCharsMax
    ? `must be a URL of at most ${fileUrlCharsMax} characters`
    : null;
}

/** The file in a data URL; null for any other text. */
export function readDataUrl(value: string): FileData | null {
  const [head, type = '', parameters = ''] = beginning.exec(value) ?? [];
  if (head === undefined) return null;
  const data = value.slice(head.length);
  const base64 = /;base64$/i.test(parameters) ? readBase64(data) : encode(data);
  return base64 ? { type: type.toLowerCase(), base64 } : null;
}

/** Padded, because some providers reject it without. */
function readBase64(data: string): string | null {
  const [, digits = '', padding = ''] = /^([A-Za-z0-9+/]+)(={0,2})$/.exec(data) ?? [];
  const needed = (4 - (digits.length % 4)) % 4;
  const isValid = digits !== '' && needed < 3 && (padding === '' || padding.length === needed);
  return isValid ? digits + '='.repeat(needed) : null;
}

/** Percent-encoded data. */
function encode(data: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(data)) return null;
  const bytes = data.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('base64');
}

/** The reference to the file in a data URL. */
export function referenceTo(dataUrl: string): string {
  const data = readDataUrl(dataUrl);
  if (data === null) throw new Error('A stored file is not a data URL.');
  const bytes = Buffer.from(data.base64, 'base64');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return `data:${data.type};bytes=${bytes.length};sha256=${sha256}`;
}

export function isReference(value: string): boolean {
  return referencePattern.test(value);
}

/** What a record keeps of a value: a URL, a data URL, or the reference to one. */
export function fileInfo(variable: string, value: string): FileInfo {
  if (!/^data:/i.test(value)) return { variable };
  const reference = isReference(value) ? value : referenceTo(value);
  const [, type = '', bytes, sha256 = ''] = referencePattern.exec(reference) ?? [];
  return { variable, type, bytes: Number(bytes), sha256 };
}
