/** The limit that refused a call, in the server's message. */
type RefusingLimit = 'key' | 'agent' | 'stage';

const limitOwners: readonly (readonly [RegExp, RefusingLimit])[] = [
  [/^Rate limit of (the API key|an API key that issued this one) exceeded/, 'key'],
  [/^Rate limit of the agent exceeded/, 'agent'],
  [/^Rate limit of the Testing stage exceeded/, 'stage'],
];

export function refusingLimit(error: string | undefined): RefusingLimit | null {
  return limitOwners.find(([message]) => message.test(error ?? ''))?.[1] ?? null;
}
