/** Who a call is for: filters, statistics and erasures go by it. */
export interface Labels {
  /** The end user. */
  readonly user?: string;
  readonly session?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The labels as fields of a body. */
export function labelsOf({ user, session, tags, metadata }: Labels) {
  return { user, session, tags: tags && [...tags], metadata };
}
