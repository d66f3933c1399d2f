import type { Usage } from '../../core/model/model-port.ts';

/** The counts of a provider; `undefined` if it gave no number. */
export type Counts = { readonly [K in keyof Usage]: number | undefined };
