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
