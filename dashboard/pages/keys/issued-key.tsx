import type { IssuedApiKey } from '../../../src/client/index.ts';
import { FirstCall } from './first-call.tsx';
import { ShownKey } from './shown-key.tsx';

/** Shows a new secret once. Its dialog is locked, so that a click outside cannot lose it. */
export function IssuedKey(props: { readonly issued: IssuedApiKey; readonly onClose: () => void }) {
  const { issued, onClose } = props;
  const [agentId, ...others] = issued.agentIds ?? [];
  if (agentId !== undefined && others.length === 0)
    return <FirstCall agentId={agentId} issued={issued} onClose={onClose} />;
  return <ShownKey secret={issued.key} onClose={onClose} />;
}
