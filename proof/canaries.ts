import { randomBytes } from 'node:crypto';

/** Texts that occur nowhere but where they were put: what opens a door, and what users wrote. */
export interface Canaries {
  /** By what it is; more are added as the service hands them out. */
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
      'complaint',
      'malformed',
      'stack',
      'idempotencyKey',
    ]),
  };
}

/** Which of them stand in a text, in whatever form. */
export function found(canaries: ReadonlyMap<string, string>, text: string): string[] {
  return [...canaries]
    .filter(([, canary]) => forms(canary).some((form) => text.includes(form)))
    .map(([name]) => name);
}

function forms(canary: string): string[] {
  const bytes = Buffer.from(canary);
  // Encoded inside of something longer it begins at any of three places: its middle stands in all of them.
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
