/// How the HTML report looks, light and dark, on a screen and on paper.
enum ReportStyle {
    static let text = """

        :root{color-scheme:light dark;--ground:#f6f7f9;--card:#fff;--line:#dfe3e8;--text:#17202b;--faint:#5d6875;--accent:#0f766e;
        --good:#15803d;--good-soft:#dcf5e4;--bad:#b91c1c;--bad-soft:#fde4e4;--warn:#92580a;--warn-soft:#fdf0d3;--fault:#d9480f;--sunken:#f0f2f5}
        @media (prefers-color-scheme:dark){:root{--ground:#0e1319;--card:#161c24;--line:#29323d;--text:#e3e9f0;--faint:#97a3b1;--accent:#2dd4bf;
        --good:#5fd38a;--good-soft:#12361f;--bad:#ff8f8f;--bad-soft:#451a1c;--warn:#f2c063;--warn-soft:#40300f;--fault:#ff9457;--sunken:#10161d}}
        *{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
        main{max-width:1120px;margin:0 auto;padding:24px 20px 64px;display:grid;gap:16px}main>*{min-width:0}
        h1,h2,h3,h4,p,dl,dd,ul,pre{margin:0}h1{font-size:20px;overflow-wrap:anywhere}h2{font-size:16px}h3{font-size:15px;overflow-wrap:anywhere}h4{font-size:13px;margin-top:10px}
        small{font-weight:400;color:var(--faint);font-size:.86em}.faint{color:var(--faint);font-size:14px}
        section,header{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px;display:grid;gap:10px}section>*,article>*{min-width:0}
        header{grid-template-columns:max-content minmax(0,1fr);gap:18px;align-items:center;border-left-width:6px}header p{overflow-wrap:anywhere}
        header.good{border-left-color:var(--good)}header.bad{border-left-color:var(--bad)}
        .word{font-size:26px;font-weight:750;letter-spacing:-.02em}.good .word{color:var(--good)}.bad .word{color:var(--bad)}
        .facts{display:flex;flex-wrap:wrap;gap:10px 34px}dt{color:var(--faint);font-size:13px}.facts dd{font-size:15px;font-variant-numeric:tabular-nums}
        code,pre,.texts,.reasons,.divergence dd{font-family:ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:13px}
        code{overflow-wrap:anywhere}pre{background:var(--sunken);border:1px solid var(--line);border-radius:8px;padding:10px 12px;overflow-x:auto}.command{white-space:pre-wrap;overflow-wrap:anywhere}
        .texts,.reasons{padding:0;list-style:none;display:grid;gap:5px}.texts li,.reasons li{overflow-wrap:anywhere;white-space:pre-wrap}
        .reasons li{border-left:3px solid var(--bad);padding-left:10px}
        .pill{display:inline-block;border-radius:99px;padding:0 9px;font-size:12.5px;font-weight:600;white-space:nowrap}
        .pill.good{background:var(--good-soft);color:var(--good)}.pill.bad{background:var(--bad-soft);color:var(--bad)}.pill.warn{background:var(--warn-soft);color:var(--warn)}
        .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}th{text-align:left;white-space:nowrap;color:var(--faint);font-weight:500;font-size:13px}
        th,td{padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}td code{overflow-wrap:break-word}tbody tr:last-child td{border-bottom:0}
        article{border-top:1px solid var(--line);padding-top:12px;display:grid;gap:6px}h2+article{border-top:0;padding-top:0}
        .divergence dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 14px;align-items:baseline}
        .divergence dd{overflow-wrap:anywhere;white-space:pre-wrap;padding:3px 8px;border-radius:6px;background:var(--sunken)}
        .divergence .was{background:var(--good-soft)}.divergence .came{background:var(--bad-soft)}
        .lanes{display:grid;gap:2px}.lane{display:grid;grid-template-columns:26px minmax(0,1fr) minmax(0,1fr);gap:10px;align-items:center}
        .lane .n{color:var(--faint);text-align:right;font-variant-numeric:tabular-nums}.lane .says{font-size:13.5px;overflow-wrap:anywhere}
        .lane svg{width:100%;overflow:visible}svg text{font-size:11px;fill:var(--faint)}.base{stroke:var(--line)}.wait{stroke:var(--faint);stroke-width:2;stroke-dasharray:2 4}
        .try{fill:var(--faint)}.try.failed{fill:var(--bad)}.on{fill:var(--accent)}svg .stop{font-size:13px;font-weight:700}svg .cut{fill:var(--bad)}svg .fault{fill:var(--fault)}.says .fault{color:var(--fault)}
        summary{cursor:pointer;color:var(--faint)}details pre{margin-top:10px}
        @media (max-width:720px){main{padding:12px 10px 40px}section,header{padding:12px}header{grid-template-columns:1fr;gap:4px}
        .lane{grid-template-columns:20px minmax(0,1fr)}.lane .says{grid-column:2}.lane.scale>span:last-child{display:none}
        table{min-width:680px}}
        @media print{body{background:#fff}section,header{break-inside:avoid-page;border-color:#ccc}}

        """
}
