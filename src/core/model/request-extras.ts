import { wordSet } from '../words.ts';
import type { ProviderKind } from './provider.ts';

/**
 * What the requests to a provider carry beyond what its kind sends: for gateways, proxies and settings that Cueline has
 * no name for. The values are secrets like the API key: encrypted, never shown, removed from errors.
 */
export interface RequestExtras {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Merged into the JSON body of each call. */
  readonly bodyExtra: Readonly<Record<string, unknown>>;
}

/** The names alone, which may be shown. */
export interface ExtraNames {
  readonly headerNames: readonly string[];
  readonly queryNames: readonly string[];
  readonly bodyExtraNames: readonly string[];
}

export const noExtras: RequestExtras = { headers: {}, query: {}, bodyExtra: {} };

export const headersMax = 50;
export const queryMax = 50;
/** Of the JSON text. */
export const bodyExtraCharsMax = 16_384;

export function extraNames({ headers, query, bodyExtra }: RequestExtras): ExtraNames {
  const names = (object: object) => Object.keys(object).sort();
  return {
    headerNames: names(headers),
    queryNames: names(query),
    bodyExtraNames: names(bodyExtra),
  };
}

export function hasExtras(extras: RequestExtras): boolean {
  return Object.values(extraNames(extras)).some(({ length }) => length > 0);
}

/** The header that carries the API key of a kind, lower case. */
export function credentialHeader(kind: ProviderKind): string {
  return credentialHeaders.get(kind) ?? 'authorization';
}

const credentialHeaders: ReadonlyMap<ProviderKind, string> = new Map([
  ['anthropic', 'x-api-key'],
  ['google', 'x-goog-api-key'],
  ['azure', 'api-key'],
]);

/** Whether a header carries the credential instead of an API key. */
export function hasCredentialHeader(kind: ProviderKind, { headers }: RequestExtras): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === credentialHeader(kind));
}

/** Why a provider may not have these extras, as public text that contains no value; `null` if it may. */
export function findExtrasProblem(
  provider: { readonly kind: ProviderKind; readonly apiKey: string | null },
  extras: RequestExtras,
): string | null {
  const { query, bodyExtra } = extras;
  const queryProblem = Object.entries(query).find(([name]) => !/^[\x21-\x7e]{1,200}$/.test(name));
  if (queryProblem) {
    return 'Names in field "query" must have 1 to 200 characters: printable ASCII without spaces.';
  }
  const reserved = Object.keys(bodyExtra).find((name) => reservedFields.has(name));
  if (reserved) {
    return `Field "bodyExtra.${reserved}" is not allowed: the model and the prompt come from the execution, so that its record is true.`;
  }
  if (JSON.stringify(bodyExtra).length > bodyExtraCharsMax) {
    return `Field "bodyExtra" must have at most ${bodyExtraCharsMax} characters as JSON.`;
  }
  return findHeaderProblem(provider, extras);
}

function findHeaderProblem(
  { kind, apiKey }: { readonly kind: ProviderKind; readonly apiKey: string | null },
  extras: RequestExtras,
): string | null {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(extras.headers)) {
    const lower = name.toLowerCase();
    if (!headerName.test(name)) {
      return 'Names in field "headers" must be header names of 1 to 200 letters, digits and dashes.';
    }
    if (ownHeaders.has(lower) || ownPrefix.test(lower)) {
      return `Field "headers.${name}" is not allowed: Cueline sets this header itself.`;
    }
    if (seen.has(lower))
      return `Field "headers.${name}" occurs twice: names are not case-sensitive.`;
    seen.add(lower);
    if (!headerValue.test(value)) {
      return `Field "headers.${name}" must be printable ASCII, without leading or trailing spaces.`;
    }
  }
  return apiKey !== null && hasCredentialHeader(kind, extras)
    ? `Field "headers.${credentialHeader(kind)}" conflicts with "apiKey", which is sent in that header. Send one of them.`
    : null;
}

/** The name of an HTTP header. */
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/;
const headerValue = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Headers that name the site, delimit the body, say how it is written, or belong to the connection. */
const ownHeaders = wordSet(`
  host content-length content-type content-encoding transfer-encoding accept-encoding connection
  keep-alive upgrade te trailer expect
`);
const ownPrefix = /^(proxy-|sec-)/;

/** Fields of a call that hold the model or the prompt, in the APIs of all kinds. */
const reservedFields = wordSet(`
  model messages input contents prompt system systemInstruction instructions
`);

/** All texts that must not appear in an error. */
export function secretsIn({ headers, query, bodyExtra }: RequestExtras): string[] {
  const headerValues = Object.values(headers).flatMap((value) => [
    value,
    ...(schemed.exec(value)?.slice(1) ?? []),
    ...stringsIn(parsed(value)),
  ]);
  return [...headerValues, ...Object.values(query), ...stringsIn(bodyExtra)].filter(
    (text) => !isVersion(text),
  );
}

const schemed = /^[A-Za-z]{1,20} +(.+)$/;

/** A version as in `api-version=2024-10-21`, which is no secret. */
export function isVersion(text: string): boolean {
  return /^v?\d{1,4}([.-]\d{1,2}){0,2}(-preview)?$/.test(text);
}

/** Gateways take JSON in headers, whose parts may be echoed. */
function parsed(value: string): unknown {
  if (!/^[[{]/.test(value)) return null;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}
