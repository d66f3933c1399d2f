import { type NavigateOptions, useNavigate, useRouter } from '@tanstack/react-router';

/**
 * Leads away from the pages of what was deleted, and leaves no way back to this one. Whoever looks at another page by
 * then stays there.
 */
export function useLeave(id: string): (to: NavigateOptions) => Promise<void> {
  const { history } = useRouter();
  const navigate = useNavigate();
  return async (to) => {
    if (history.location.pathname.includes(id)) await navigate({ ...to, replace: true });
  };
}
