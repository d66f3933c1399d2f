import { infiniteQueryOptions } from '@tanstack/react-query';

const versionsPage = 100;

interface Answer<Version> {
  readonly versions: readonly Version[];
  readonly pagination: {
    readonly hasMore: boolean;
    readonly offset: number;
    readonly limit: number;
  };
}

/** Versions of a prompt or a workflow, newest first, loaded page by page. */
export function versionPages<Version>(
  queryKey: readonly string[],
  read: (
    page: { readonly limit: number; readonly offset: number },
    options: { readonly signal: AbortSignal },
  ) => Promise<Answer<Version>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam: offset }) => read({ limit: versionsPage, offset }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ pagination: { hasMore, offset, limit } }) =>
      hasMore ? offset + limit : null,
    select: ({ pages }) => pages.flatMap(({ versions }) => versions),
  });
}
