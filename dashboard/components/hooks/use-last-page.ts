import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * Redirects to the last page if `offset` is beyond the end of the list, for example after a deletion. `pagination` is
 * undefined while loading; `count` is the number of rows on this page.
 */
export function useLastPage(
  pagination:
    | { readonly limit: number; readonly offset: number; readonly total: number }
    | undefined,
  count: number | undefined,
): void {
  const navigate = useNavigate();
  const { limit, offset, total } = pagination ?? { limit: 1, offset: 0, total: 0 };
  const isBeyondEnd = count === 0 && offset > 0;
  useEffect(() => {
    if (!isBeyondEnd) return;
    const last = Math.floor(Math.max(0, Math.min(total, offset) - 1) / limit) * limit;
    const search = (now: object) => ({ ...now, offset: last || undefined });
    void navigate({ to: '.', search: search as never, replace: true, resetScroll: false });
  }, [isBeyondEnd, limit, offset, total]);
}
