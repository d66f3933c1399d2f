import { useNavigate, useSearch } from '@tanstack/react-router';

/** Of each filter what it becomes; undefined takes it off. */
export type FilterChange<Filters> = {
  readonly [Name in keyof Filters]?: Filters[Name] | undefined;
};

/**
 * The filters of a list, kept in the page's address, so that a view can be shared and comes back with the back button.
 * The route's `validateSearch` says which there are. A change leads to the first page; `clear` takes all of them off.
 */
export function useFilters<Filters extends { readonly offset?: number | undefined }>(): readonly [
  Filters,
  (change: FilterChange<Filters>) => void,
  () => void,
] {
  const filters: unknown = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (change: FilterChange<Filters>) => {
    // From what holds by then: another change may be under way, which is not drawn yet.
    const search = (now: object) => ({ ...now, offset: undefined, ...change });
    // Typing in a field is one step of the history at most; a page is one of its own.
    void navigate({ to: '.', search: search as never, replace: change.offset === undefined });
  };
  const clear = () => void navigate({ to: '.', search: {} as never, replace: true });
  return [filters as Filters, change, clear];
}
