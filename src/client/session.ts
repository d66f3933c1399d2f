import type { Answered, Request } from './request.ts';

/**
 * A browser's session: signing in and out. The cookie that carries it is the browser's business; a program takes a key.
 * What stands below `/api/auth` is not part of the declared contract, so its few calls are typed here.
 */
export function session(request: Request) {
  const call = request as unknown as (
    route: string,
    input: { readonly body?: unknown },
  ) => Promise<Answered<unknown>>;
  return {
    async signIn(account: { email: string; password: string }): Promise<void> {
      await call('POST /api/auth/sign-in/email', { body: account });
    },
    /** Whose accounts people can sign in with, beside address and password. */
    async identityProviders() {
      return (await request('GET /api/v1/identity-providers', {})).body.identityProviders;
    },
    /** Answers where the browser has to go; it comes back to `callbackURL`, a page of this server. */
    async departTo(
      provider: string,
      pages: { callbackURL: string; errorCallbackURL: string },
    ): Promise<string> {
      const body = { provider, ...pages };
      const answer = (await call('POST /api/auth/sign-in/social', { body })).body;
      return (answer as { url: string }).url;
    },
    /** Who is signed in, a member of a workspace or not; null for nobody. */
    async user(): Promise<{ readonly email: string } | null> {
      const answer = (await call('GET /api/auth/get-session', {})).body;
      return (answer as { user: { email: string } } | null)?.user ?? null;
    },
    async signOut(): Promise<void> {
      await call('POST /api/auth/sign-out', {});
    },
    /** Ends the user's other sessions too where asked. */
    async changePassword(change: {
      currentPassword: string;
      newPassword: string;
      revokeOtherSessions?: boolean;
    }): Promise<void> {
      await call('POST /api/auth/change-password', { body: change });
    },
  };
}
