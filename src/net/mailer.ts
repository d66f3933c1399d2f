import { createTransport } from 'nodemailer';
import type { Mailer } from '../core/people/mail.ts';

/** Sends e-mail over SMTP. The operator chooses the server, so no guard applies. */

export interface SmtpSettings {
  /** `smtp://user:password@host:587` or `smtps://…`, with nodemailer's options in its query. */
  readonly url: string;
  /** Such as `Cueline <cueline@example.com>`. */
  readonly from: string;
}

const connectMs = 10_000;
const silentMs = 20_000;

export function createMailer({ url, from }: SmtpSettings): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silentMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
    },
    close: () => transport.close(),
  };
}
