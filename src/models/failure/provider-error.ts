import { errorBytesMax } from '../../net/response-limits.ts';

/** A provider's error response, in any of their formats. */
export interface ProviderErrorBody {
  /** The provider's own text; `null` if none was found. */
  readonly text: string | null;
  /** Every code, type, status and reason in it, in lower case. */
  readonly codes: ReadonlySet<string>;
  /** An HTTP status inside the body: OpenRouter responds 200 and puts the provider's status there. */
  readonly status: number | null;
}

/**
 * Reads `{error: {message, code, type}}` (OpenAI and compatible servers, Anthropic), `{error: {message, status,
 * details}}` (Google, also in an array), `{message, __type}` (Bedrock), `{error: "…"}` (Ollama), `{detail: …}` (FastAPI
 * servers), or plain text. OpenRouter's `metadata.raw` is the error of the provider behind it.
 */
export function readProviderError(body: string): ProviderErrorBody {
  const codes = new Set<string>();
  // Errors are never this long: this is another response, and walking through it would take time.
  if (body.length > errorBytesMax) return { text: null, codes, status: null };
  const json = parse(body);
  if (json === undefined) {
    // A proxy's HTML page says nothing that its status does not.
    const plain = body.trim();
    return { text: plain && !plain.startsWith('<') ? plain : null, codes, status: null };
  }
  collect(json, codes, 0);
  const status = Number([...codes].find((code) => /^[45]\d\d$/.test(code)) ?? Number.NaN);
  const texts = [textOf(json, 0), errorBehind(json, codes)].filter((text) => text !== null);
  const text = texts.length === 0 ? null : texts.join(': ');
  return { text, codes, status: Number.isNaN(status) ? null : status };
}

/** The text of the error that a gateway passes on beside its own, whose codes are added. */
function errorBehind(json: unknown, codes: Set<string>): string | null {
  const { error, metadata } = Object(json) as { error?: unknown; metadata?: unknown };
  const { raw } = Object(Object(error).metadata ?? metadata) as { raw?: unknown };
  if (typeof raw !== 'string' || raw.trimStart().startsWith('<')) return null;
  const passedOn = parse(raw);
  collect(passedOn, codes, 0);
  return textOf(passedOn ?? raw, 0);
}

/**
 * The error that a body states by a code and a message in place of an answer; null if it may be an answer. Some gateways
 * send it with a success status.
 */
export function statedError(body: Readonly<Record<string, unknown>>): object | null {
  const { code, msg, message } = body;
  const text = msg ?? message;
  if (!code || typeof text !== 'string') return null;
  const isAnswer = ['choices', 'output', 'candidates', 'content'].some((name) => body[name]);
  return isAnswer ? null : { code, message: text };
}

const depthMax = 5;
const codeNames = new Set(['code', 'type', '__type', 'status', 'reason', 'quotaId']);

function collect(value: unknown, codes: Set<string>, depth: number): void {
  if (depth > depthMax || typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const plain = typeof part === 'string' || typeof part === 'number';
    if (plain && codeNames.has(name)) codes.add(String(part).toLowerCase());
    else collect(part, codes, depth + 1);
  }
}

function textOf(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return value.trim() || null;
  if (depth > depthMax || typeof value !== 'object' || value === null) return null;
  const { error, message, Message, detail, msg, errors } = value as Record<string, unknown>;
  const places = Array.isArray(value) ? value : [error, message, Message, detail, msg, errors];
  for (const place of places) {
    const text = textOf(place, depth + 1);
    if (text) return text;
  }
  return null;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
