import type { Labels } from '../../client/index.ts';

/** Who a call is for, as command line options. */
export interface LabelOptions {
  readonly user?: string;
  readonly session?: string;
  readonly tag?: readonly string[];
  readonly metadata?: readonly (readonly [string, string])[];
}

export function labelsOf({ user, session, tag, metadata }: LabelOptions): Labels {
  return { user, session, tags: tag, metadata: metadata && Object.fromEntries(metadata) };
}
