import type { Resolve } from '../src/net/guard.ts';

/** A DNS lookup that returns these addresses for every name. */
export const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
