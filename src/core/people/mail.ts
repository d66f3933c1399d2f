import { inertText } from '../inert-text.ts';

/** E-mail, where the server is configured to send it. `net` implements the port. */

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Resolves once the mail server has accepted it. */
export type SendMail = (mail: Mail) => Promise<void>;

export interface Mailer {
  readonly send: SendMail;
  close(): void;
}

/**
 * Mails of a workspace on a day (UTC): invitations and alerts. Resets of passwords are not among them, because using up
 * the mails of a workspace would lock its members out.
 */
export const mailsPerDayMax = 500;

/**
 * Mails with a link to reset a password, for one account in the time that such a link works. Anybody may request them: a
 * further one is not sent, but then the account has links that work.
 */
export const resetMailsMax = 5;

export function invitationMail(
  to: string,
  { workspaceName, role, url }: { workspaceName: string; role: string; url: string },
): Mail {
  const name = inertText(workspaceName);
  const text = `You are invited to join the workspace "${name}" as ${role}.

${url}

The link works for seven days, for anyone who has it.`;
  return { to, subject: `Invitation to ${name}`, text };
}

export function passwordResetMail(to: string, url: string): Mail {
  const text = `Somebody, probably you, asked to reset the password of this address. Choose a new one here:

${url}

The link works for one hour, once. If you did not ask for it, ignore this message.`;
  return { to, subject: 'Reset your password', text };
}

export function alertMail(
  to: string,
  alert: {
    readonly name: string;
    readonly metric: string;
    readonly threshold: number;
    readonly value: number | null;
    readonly isFiring: boolean;
    readonly workspaceName: string;
    readonly url: string;
  },
): Mail {
  const { metric, threshold, value, isFiring, url } = alert;
  const name = inertText(alert.name);
  const verb = isFiring ? 'fired' : 'cleared';
  const measured = value === null ? 'has no data' : `is ${value}`;
  const text = `The alert "${name}" of the workspace "${inertText(alert.workspaceName)}" ${verb}.

${metric} ${measured}, the threshold is ${threshold}.

${url}`;
  return { to, subject: `Alert ${verb}: ${name}`, text };
}
