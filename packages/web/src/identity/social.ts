const lead = 'Open platform for hosting AI agents: configure an agent once, run it for every user.';

/** Other sites show these beside a link to a page. The server makes the picture's address absolute. */
export const socialTags = (title: string): string =>
  [
    ['og:site_name', 'Vestra'],
    ['og:type', 'website'],
    ['og:title', title],
    ['og:description', lead],
    ['og:image', '/brand/social.png'],
    ['og:image:width', '1200'],
    ['og:image:height', '630'],
  ]
    .map(([property, content]) => `<meta property="${property}" content="${content}">`)
    .join('\n');
