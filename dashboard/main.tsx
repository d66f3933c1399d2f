import '@mantine/core/styles.layer.css';
import '@fontsource-variable/inter/wght.css';
import './theme/tokens.css';
import './theme/text.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CuelineError } from '../src/client/index.ts';
import { queryClient } from './data/client/query-client.ts';
import { router } from './router.ts';
import { colorScheme, cssVariables, styleNonce, theme } from './theme/theme.ts';

const root = document.getElementById('root');
if (!root) throw new Error('Element #root is missing');

createRoot(root, {
  // Error boundaries show API errors; log only others.
  onCaughtError: (error) => error instanceof CuelineError || console.error(error),
}).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={colorScheme}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
