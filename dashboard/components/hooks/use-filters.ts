import { useNavigate, useSearch } from '@tanstack/react-router';

/** New values of filters; undefined removes a filter. */
export type FilterChange<Filters> = {
  readonly [Name in keyof Filters]?: Filters[Name] | undefined;
};

interface Position {
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
}

/**
 * The filters of a list as search parameters, so that a view can be shared and the back button restores it. The route's
 * `validateSearch` defines them. A change resets to the first page; `clear` removes all filters.
 */
export function useFilters<Filters extends Position>(): readonly [
  Filters,
  (change: FilterChange<Filters>) => void,
  () => void,
] {
  const filters: unknown = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (change: FilterChange<Filters>) => {
    // Based on the latest parameters: another change may not have rendered yet.
    const search = (now: object) => ({ ...now, offset: undefined, cursor: undefined, ...change });
    // Filter changes replace the history entry; page changes add one.
    const turnsPage = change.offset !== undefined || change.cursor !== undefined;
    void navigate({ to: '.', search: search as never, replace: !turnsPage });
  };
  const clear = () => void navigate({ to: '.', search: {} as never, replace: true });
  return [filters as Filters, change, clear];
}
