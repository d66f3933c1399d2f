import { ActionIcon, Tooltip } from '@mantine/core';
import { type Copied, useCopy } from '../hooks/use-copy.ts';
import { Icon, type IconName } from '../icon.tsx';

/** Copies `text`. `label` names it for screen readers. */
export function CopyButton({ text, name }: { readonly text: string; readonly name: string }) {
  const [copied, copy] = useCopy();
  const label = copied ? copyLabels[copied] : `Copy ${name}`;
  return (
    // Shows a failure without hover: a secret shown once would otherwise be lost.
    <Tooltip label={label} {...(copied === 'failed' && { opened: true })}>
      <ActionIcon
        variant="subtle"
        color={copied === 'failed' ? 'var(--bad)' : 'gray'}
        size="sm"
        aria-label={label}
        onClick={() => copy(text)}
      >
        <Icon name={icons[copied ?? 'not yet']} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

export const copyLabels: Readonly<Record<NonNullable<Copied>, string>> = {
  copied: 'Copied',
  failed: 'Copy failed',
};

const icons: Readonly<Record<NonNullable<Copied> | 'not yet', IconName>> = {
  copied: 'check',
  failed: 'warning',
  'not yet': 'copy',
};
