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
