import type { Answered, Request } from './request.ts';

/**
 * A browser's session: signing in and out. The cookie that carries it is the browser's business; a program takes a key.
 * What stands below `/api/auth` is not part of the declared contract, so its few calls are typed here.
 */
export function session(request: Request) {
  const post = request as unknown as (
    route: string,
    input: { readonly body?: unknown },
  ) => Promise<Answered<unknown>>;
  return {
    async signIn(account: { email: string; password: string }): Promise<void> {
      await post('POST /api/auth/sign-in/email', { body: account });
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
      const answer = (await post('POST /api/auth/sign-in/social', { body })).body;
      return (answer as { url: string }).url;
    },
    async signOut(): Promise<void> {
      await post('POST /api/auth/sign-out', {});
    },
    /** Ends the user's other sessions too where asked. */
    async changePassword(change: {
      currentPassword: string;
      newPassword: string;
      revokeOtherSessions?: boolean;
    }): Promise<void> {
      await post('POST /api/auth/change-password', { body: change });
    },
  };
}
