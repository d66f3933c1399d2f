/** As it stands in the address: the identifiers of two versions. */
export interface VersionsSearch {
  readonly before?: string;
  readonly after?: string;
}

/** What makes no sense is left out, as from every address. */
export function readVersionsSearch({ before, after }: Record<string, unknown>): VersionsSearch {
  return {
    ...(typeof before === 'string' && { before }),
    ...(typeof after === 'string' && { after }),
  };
}
