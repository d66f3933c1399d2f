/* The build appends this file to the viewer's bundle, which defines `Scalar`. */

// Enough contrast for small text, and no control without a name or out of the keyboard's reach.
const customCss = `
  .light-mode {
    --scalar-color-2: #4f4f4f;
    --scalar-color-3: #666666;
    --scalar-color-accent: #4338ca;
    --scalar-color-green: #00704a;
    --scalar-color-blue: #0060a0;
    --scalar-color-red: #c40000;
    --scalar-color-orange: #a84300;
    --scalar-color-yellow: #7d5f00;
    --scalar-color-purple: #6d3bb0;
  }
  .dark-mode {
    --scalar-color-3: #a0a0a0;
    --scalar-color-accent: #a5b4fc;
    --scalar-color-red: #ff7575;
  }
`;

Scalar.createApiReference('#reference', {
  // Beside this page, under whatever path.
  url: './openapi.json',
  customCss,
  // No request may leave this server: no fonts, telemetry or AI service of the vendor.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  // A test request would carry the session cookie of the person who reads. The playground is the place to run agents.
  hideTestRequestButton: true,
  documentDownloadType: 'direct',
});
