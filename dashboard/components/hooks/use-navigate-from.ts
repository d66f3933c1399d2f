import { type NavigateOptions, useNavigate, useRouter } from '@tanstack/react-router';

/**
 * Navigates only if the user is still on a page whose path contains `path`, so that a late response does not interrupt
 * them elsewhere.
 */
export function useNavigateFrom(path: string): (to: NavigateOptions) => Promise<void> {
  const { history } = useRouter();
  const navigate = useNavigate();
  return async (to) => {
    if (history.location.pathname.includes(path)) await navigate(to);
  };
}
