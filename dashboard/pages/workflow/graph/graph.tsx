import { Skeleton } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import type { GraphStep } from '../../../data/workflows/workflow-graph.ts';

export interface GraphProps {
  readonly steps: readonly GraphStep[];
  readonly label: string;
  readonly nameOf: (agentId: string) => string | undefined;
  /** The position of the selected step. */
  readonly chosen: number | null;
  readonly onChoose: (step: GraphStep) => void;
  /** The state of each step. */
  readonly stateOf?: (step: GraphStep) => StepState | undefined;
}

export interface StepState {
  readonly tone: string;
  readonly badge: ReactNode;
  /** Of its items, in place of the marks. */
  readonly items?: string | undefined;
}

const StepGraph = lazyComponent(() => import('./step-graph.tsx'));

/** The steps as boxes, connected by what they wait for. Loaded on first use: the library is large. */
export function Graph(props: GraphProps) {
  return (
    <Suspense fallback={<Skeleton height={180} radius="md" />}>
      <StepGraph {...props} />
    </Suspense>
  );
}
