import { useNavigate, useSearch } from '@tanstack/react-router';

/**
 * The filters of a list, kept in the page's address, so that a view can be shared and comes back with the back button.
 * The route's `validateSearch` says which there are. A change leads to the first page; undefined takes a filter off.
 */
export function useFilters<Filters extends { readonly offset?: number }>(): readonly [
  Filters,
  (change: Partial<Filters>) => void,
] {
  const search: unknown = useSearch({ strict: false });
  const filters = search as Filters;
  const navigate = useNavigate();
  const change = (change: Partial<Filters>) => {
    const search = { ...filters, offset: undefined, ...change };
    // Typing in a field is one step of the history at most; a page is one of its own.
    navigate({ to: '.', search: search as never, replace: change.offset === undefined });
  };
  return [filters, change];
}
