/** The ids of two compared versions, as search parameters. */
export interface VersionsSearch {
  readonly before?: string;
  readonly after?: string;
}

/** Drops invalid values. */
export function readVersionsSearch({ before, after }: Record<string, unknown>): VersionsSearch {
  return {
    ...(typeof before === 'string' && { before }),
    ...(typeof after === 'string' && { after }),
  };
}
