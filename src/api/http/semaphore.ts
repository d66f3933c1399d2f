import { CallFailure } from '../../core/failure.ts';

/**
 * Work that takes a processor, a few at once and the others in their turn: hashes of passwords share four threads with
 * the lookup of names and everything else that Node does aside, and must leave some of them free.
 */
export function createTurns(max: { readonly atOnce: number; readonly waiting: number }) {
  const waiting: (() => void)[] = [];
  let busy = 0;

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (busy < max.atOnce) busy++;
    else if (waiting.length < max.waiting) await new Promise<void>((go) => waiting.push(go));
    else {
      const fields = { retryAfter: 1 };
      throw new CallFailure('UNAVAILABLE', 'Too many sign-ins at once. Try again.', fields);
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else busy--;
    }
  };
}
