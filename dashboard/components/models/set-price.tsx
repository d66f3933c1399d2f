import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { can, useMe } from '../../data/workspace/me.ts';

/** Where a cost is unknown: leads owners to the form for the price of the model, and tells others whom to ask. */
export function SetPrice(props: {
  readonly model: string | undefined;
  readonly text?: string;
  /** Shown to others. */
  readonly otherwise?: ReactNode;
}) {
  const { model, text = 'Set a price', otherwise = 'Unknown. An owner can set a price.' } = props;
  if (!can(useMe(), 'manage')) return otherwise;
  return (
    <Link to="/settings/providers" search={model ? { priceOf: model } : {}}>
      {text}
    </Link>
  );
}
