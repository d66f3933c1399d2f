import { type NavigateOptions, useNavigate, useRouter } from '@tanstack/react-router';

/** Leads away from the page of what was made or deleted. Whoever looks at another one than `path` by then stays there. */
export function useLeave(path: string): (to: NavigateOptions) => Promise<void> {
  const { history } = useRouter();
  const navigate = useNavigate();
  return async (to) => {
    if (history.location.pathname.includes(path)) await navigate(to);
  };
}
