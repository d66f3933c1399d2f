import type { Connection } from './method.ts';
import type { ApiResponse } from './request.ts';

/**
 * Sign-in and sign-out of a browser session. The browser manages the session cookie; programs use a
 * key. The paths below `/api/auth` are not in the contract, so this file declares their types.
 */
export function session({ request, plain }: Connection) {
  const call = request as unknown as (
    route: string,
    input: { readonly body?: unknown },
  ) => Promise<ApiResponse<unknown>>;
  return {
    async signIn(account: { email: string; password: string }): Promise<void> {
      await call('POST /api/auth/sign-in/email', { body: account });
    },
    /** Identity providers for sign-in, in addition to e-mail and password. */
    identityProviders: plain('listIdentityProviders.identityProviders'),
    /** The identity providers, and whether a password can be reset by e-mail. */
    signInOptions: plain('listIdentityProviders'),
    /** Sends a link if the address has an account with a password. */
    async requestPasswordReset(email: string): Promise<void> {
      await call('POST /api/auth/request-password-reset', { body: { email } });
    },
    /** Sets a new password with the token of the link, and ends all sessions. */
    async resetPassword(reset: { token: string; newPassword: string }): Promise<void> {
      await call('POST /api/auth/reset-password', { body: reset });
    },
    /**
     * Returns the URL to open for sign-in. The provider redirects back to `callbackURL`, a page of
     * this server.
     */
    async socialSignInUrl(
      provider: string,
      pages: { callbackURL: string; errorCallbackURL: string },
    ): Promise<string> {
      const body = { provider, ...pages };
      const response = (await call('POST /api/auth/sign-in/social', { body })).body;
      return (response as { url: string }).url;
    },
    /** The signed-in user, with or without a workspace. `null` if nobody is signed in. */
    async user(): Promise<{ readonly email: string } | null> {
      const response = (await call('GET /api/auth/get-session', {})).body;
      return (response as { user: { email: string } } | null)?.user ?? null;
    },
    async signOut(): Promise<void> {
      await call('POST /api/auth/sign-out', {});
    },
    /** Ends the user's other sessions. */
    async changePassword(change: { currentPassword: string; newPassword: string }): Promise<void> {
      await call('POST /api/auth/change-password', { body: change });
    },
  };
}
