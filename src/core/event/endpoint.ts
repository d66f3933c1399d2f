import type { EventType } from './event.ts';

/** Endpoints: who receives which events, and in which form. */

export const endpointPayloads = ['thin', 'full'] as const;
export type EndpointPayload = (typeof endpointPayloads)[number];

/** `slack`: `{"text": …}`, which Slack, Teams and the like show as a message. */
export const endpointFormats = ['standard', 'slack'] as const;
export type EndpointFormat = (typeof endpointFormats)[number];

/** Incoming webhooks of Slack, and of Teams with its workflows: they reject any other body. */
const chatHosts =
  /^(hooks\.slack(-gov)?\.com|[\w.-]+\.webhook\.office\.com|[\w.-]+\.logic\.azure\.com|[\w.-]+\.api\.powerplatform\.com)$/;

/** The format of an endpoint that names none. */
export function formatFor(url: string | null): EndpointFormat {
  const isChat = url !== null && URL.canParse(url) && chatHosts.test(new URL(url).hostname);
  return isChat ? 'slack' : 'standard';
}

/**
 * The path and query of a URL may be a secret, as those of Slack's webhooks are. The whole URL is sealed; beside it, its origin is
 * stored in a form that no version takes for an address to send to. Nobody reads the rest back.
 */
const sealedPrefix = 'sealed:';
/** Replaces what is not shown. No URL has it: it would be percent-encoded. */
const ellipsis = '…';

export function storedOrigin(url: string): string {
  return `${sealedPrefix}${new URL(url).origin}`;
}

/** Whether a stored text is an origin whose URL is sealed. Otherwise an earlier version wrote the URL itself. */
export function isSealedURL(stored: string): boolean {
  return stored.startsWith(sealedPrefix);
}

/** A stored text as callers see it. */
export function shownURL(stored: string): string {
  const url = isSealedURL(stored) ? stored.slice(sealedPrefix.length) : stored;
  return `${new URL(url).origin}/${ellipsis}`;
}

/** Whether it is what `shownURL` shows, and not a URL. */
export function isShortened(url: string): boolean {
  return url.includes(ellipsis);
}

/** What a receiver's answer may repeat of the URL of its endpoint: an error page often names the path. */
export function secretsOfURL(url: string): string[] {
  const { pathname, search, searchParams } = new URL(url);
  const long = pathname.split('/').filter((part) => part.length >= secretPartMin);
  const texts = [pathname + search, pathname, search, ...long, ...searchParams.values()];
  return texts.filter((text) => text.length > 1);
}

/** A shorter part of a path is a word; a value of the query seldom is. */
const secretPartMin = 16;

/** By its owner; because the receiver answered 410, had no success for days, or the key that created it ended. */
export const disabledReasons = ['owner', 'gone', 'failing', 'key_ended'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const endpointsMax = 20;

/** A pull endpoint is deleted if nobody reads its events for so long. */
export const silentMinutesMax = 10;

/** What an owner decides about an endpoint. */
export interface EndpointSettings {
  /** Null for a pull endpoint. */
  readonly url: string | null;
  readonly eventTypes: readonly EventType[];
  /** Stored ids; null for all agents. */
  readonly agentIds: readonly string[] | null;
  readonly payload: EndpointPayload;
  readonly format: EndpointFormat;
  readonly description: string | null;
}
