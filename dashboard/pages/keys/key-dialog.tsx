import { Suspense } from 'react';
import type { ApiKey } from '../../../src/client/index.ts';
import { lazyPart } from '../../components/lazy-component.tsx';
import { RotateKey } from './rotate-key.tsx';

const IssueKeyForm = lazyPart(() => import('./issue-key-form.tsx'), true);

/** A key to be rotated, or a new one. */
export type KeyAsked = ApiKey | 'issue';

/**
 * Stands beside the list and not in it: with the answer the list is read anew, and a dialog in a row of it, or in what
 * it shows while it is empty, would be gone with the only sight of the new secret.
 */
export function KeyDialog(props: {
  readonly asked: KeyAsked | null;
  /** A new key is for this agent, unless said otherwise. */
  readonly agentId?: string;
  readonly onClose: () => void;
}) {
  const { asked, agentId, onClose } = props;
  if (asked === null) return null;
  if (asked !== 'issue') return <RotateKey apiKey={asked} onClose={onClose} />;
  return (
    <Suspense>
      <IssueKeyForm agentId={agentId} onClose={onClose} />
    </Suspense>
  );
}
