import type { AnswerDetails } from '../../core/model/model-port.ts';
/**
 * A provider's text, made fit for a record: secrets removed, cut to a maximum length, printable. Providers echo what
 * they were sent: the key ("Incorrect API key provided: sk-…"), the URL with a key in it, headers.
 */

export const messageCharsMax = 2_000;
/** Of an error page, this much is scanned. */
const scanCharsMax = 16_384;
/** A shorter key is no secret, and removing every `1` or `key` would spoil the text. */
const secretCharsMin = 6;
/** As many as AWS keys have. With hundreds of parts the text would be searched a thousand times. */
const partsMax = 3;
export const redacted = '[redacted]';

/** `secrets` are those of the call; texts that merely look like a secret are removed too. */
export function redact(text: string, secrets: readonly string[]): string {
  return printable(hideSecrets(text.slice(0, scanCharsMax), secrets));
}

/** What a response says beside its text. A provider may echo a key in any field. */
export function redactDetails(details: AnswerDetails, secrets: readonly string[]): AnswerDetails {
  const { modelAnswered, providerRequestId, refusalText, providerFinishReason } = details;
  const clean = (text: string | null) => text && redact(text, secrets);
  return {
    ...details,
    modelAnswered: clean(modelAnswered),
    providerRequestId: clean(providerRequestId),
    refusalText: clean(refusalText),
    providerFinishReason: clean(providerFinishReason),
  };
}

/** The same text without secrets. Its length must be bounded. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let out = hideGivenSecrets(text, secrets);
  for (const [pattern, replacement] of patterns) out = out.replace(pattern, replacement);
  return out;
}

/** Likewise, but keeps what merely looks like a secret: it may be what was asked for. */
export function hideGivenSecrets(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const form of secrets.flatMap(forms)) out = out.replaceAll(form, redacted);
  for (const beginning of secrets.flatMap(beginnings)) out = out.replace(beginning, redacted);
  return out;
}

/**
 * A long value whose beginning is quoted, with a mask for the rest. Without one it may be ordinary text: values of headers
 * and fields are secrets too, and a model or an app may be named like another.
 */
function beginnings(secret: string): RegExp[] {
  return secret
    .split(':', partsMax)
    .filter((part) => part.length >= 2 * beginningChars)
    .map((part) => {
      // Node 22 has no `RegExp.escape`.
      const beginning = part.slice(0, beginningChars).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      return new RegExp(`${beginning}[^\\s"'<>]{0,60}?(?:\\*{2}|…|•|\\.{3})[^\\s"'<>]*`, 'g');
    });
}

const beginningChars = 10;

/** All encodings of a secret that a response may contain. The longest come first, so that no part of one remains. */
function forms(secret: string): string[] {
  // The two or three parts of AWS keys are given as one text; each alone is a secret too.
  const all = [secret, ...secret.split(':', partsMax)]
    .filter((part) => part.length >= secretCharsMin)
    .flatMap((part) => [
      part,
      encodeURIComponent(part),
      // Python leaves slashes as they are.
      encodeURIComponent(part).replaceAll('%2F', '/'),
      JSON.stringify(part).slice(1, -1),
      Buffer.from(part).toString('base64'),
      Buffer.from(part).toString('base64url'),
      Buffer.from(part).toString('hex'),
    ]);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/** Repetitions that could begin at every character are bounded, so that no text makes them slow. */
const patterns: readonly (readonly [RegExp, string])[] = [
  // user:password@ in a URL
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>@]*@/gi, `$1${redacted}@`],
  // ?key=…&token=… in a URL or a form
  [
    /([?&;](?:[\w.-]{0,40}(?:key|token|secret|password|signature|credential)|sig|auth|code)=)[^\s&;"'<>#]+/gi,
    `$1${redacted}`,
  ],
  // Authorization: Bearer …, "x-api-key": "…"
  [
    /\b((?:proxy-)?authorization|(?:x-|x-goog-)?api[-_]?key|x-amz-security-token|set-cookie|cookie)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic|token)\s+)?[^\s"',;]+/gi,
    `$1$2${redacted}`,
  ],
  // Bearer …, Basic …: but not "basic authentication"
  [/\b([Bb]earer|[Bb]asic)\s+(?=[\w.~+/=*-]*[A-Z\d=])[\w.~+/=*-]{8,}/g, `$1 ${redacted}`],
  // Keys by the prefix their issuers give them, masked ones (sk-ab***yz) as well.
  [
    /\b(?:sk|pk|rk|xai|gsk|hf|r8|ghp|gho|github_pat|glpat|xox[abprs]|pplx|nvapi|fw|cue)[-_][\w.*•…-]{6,}/g,
    redacted,
  ],
  [/\b(?:AIza[\w-]{20,}|ABSK[\w+/=-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{12,})/g, redacted],
  // A JSON Web Token
  [/\beyJ[\w-]{8,2000}\.[\w-]+(?:\.[\w-]*)?/g, redacted],
];

/** PostgreSQL stores no NUL, a lone surrogate is not a character, and a record is not a terminal. */
function printable(text: string): string {
  const clean = text
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n\r]/gu, '\ufffd')
    .trim();
  if (clean.length <= messageCharsMax) return clean;
  // The cut must not split a surrogate pair.
  return `${clean.slice(0, messageCharsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
