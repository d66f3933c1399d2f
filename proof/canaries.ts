import { randomBytes } from 'node:crypto';

/** Unique strings that must not leak: secrets and user content. */
export interface Canaries {
  /** By name. The scenario adds the secrets that the service issues. */
  readonly secrets: Map<string, string>;
  readonly contents: Map<string, string>;
}

export function makeCanaries(): Canaries {
  const all = (names: readonly string[]) =>
    new Map(names.map((name) => [name, `${name}${randomBytes(12).toString('hex')}`]));
  return {
    secrets: all([
      'serverSecret',
      'ownerPassword',
      'wrongPassword',
      'memberPassword',
      'providerKey',
      'providerHeader',
      'providerQuery',
      'providerBody',
      'endpointPath',
      'endpointQuery',
      'environmentKey',
      'issuerSecret',
      'githubSecret',
      'metricsToken',
      'collectorToken',
      'databasePassword',
    ]),
    contents: all([
      'variable',
      'defaultValue',
      'systemPrompt',
      'userPrompt',
      'output',
      'providerError',
      'malformed',
      'stack',
      'idempotencyKey',
      'message',
      'reasoning',
      'outputJson',
      'toolArguments',
      'refusal',
      'file',
      'fileUrl',
      'endUser',
      'session',
      'tag',
      'metadata',
    ]),
  };
}

/** The names of the canaries that a text contains, in any encoding. */
export function found(canaries: ReadonlyMap<string, string>, text: string): string[] {
  return [...canaries]
    .filter(([, canary]) => forms(canary).some((form) => text.includes(form)))
    .map(([name]) => name);
}

function forms(canary: string): string[] {
  const bytes = Buffer.from(canary);
  // Inside a longer base64 text a canary starts at one of three offsets. Its middle part is the same in all of them.
  const middles = [0, 1, 2].map((at) => bytes.subarray(at).toString('base64').slice(0, -4));
  return [
    canary,
    encodeURIComponent(canary),
    bytes.toString('hex'),
    ...middles,
    ...middles.map(urlSafe),
  ];
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}
