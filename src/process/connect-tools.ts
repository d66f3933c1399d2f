import { deriveSealKey } from '../core/seal.ts';
import type { ToolPort } from '../core/tools/tool-port.ts';
import { createToolSender } from '../features/tools/verbs/tool-sender.ts';
import { hideGivenSecrets } from '../models/failure/redact.ts';
import { createPostTool } from '../net/post-tool.ts';
import type { WiringDeps } from './wiring-deps.ts';

/** What calls the tools of servers, for executions and for owners who try them. */
export function connectTools({ config: { allowedHosts, proxies }, secret, version }: WiringDeps): {
  readonly sender: ToolPort;
  /** Why a server does not answer, as public text; null if it does. */
  readonly reach: (url: string) => Promise<string | null>;
  readonly close: () => Promise<void>;
} {
  const { post, reach, close } = createPostTool({ allowedHosts, proxies });
  const sealKey = deriveSealKey(secret);
  const sender = createToolSender({ post, sealKey, version, hideSecrets: hideGivenSecrets });
  return { sender, reach, close };
}
