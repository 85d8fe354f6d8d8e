"""Which language a file's extension stands for, as far as Pygments has a lexer of that name.

The table is that of Dolma 1.2.1 (853 extensions, after GitHub's), without the 213 whose language Pygments
2.21 does not know by that name: Dolma gives their files the value of an unknown extension. What is measured
of a language stands in ``starcoder``.
"""

from __future__ import annotations

import functools

_TABLE = """
abap: abap
actionscript: as
ada: ada adb ads
agda: agda
alloy: als
ampl: ampl
antlr: g4
apacheconf: apacheconf vhost
apl: apl dyalog
applescript: applescript scpt
arduino: ino
aspectj: aj
augeas: aug
autohotkey: ahk ahkl
autoit: au3
awk: auk awk gawk mawk nawk
befunge: befunge
bitbake: bb
blitzbasic: decls
blitzmax: bmx
boo: boo
brainfuck: bf
bro: bro
c: c cats h idc w
c++: C H c++ cc cp cpp cxx h++ hh hpp hxx inl ipp tcc tpp
ceylon: ceylon
chapel: chpl
cirru: cirru
clean: dcl icl
clojure: boot cl2 clj cljc cljs cljscm cljshl cljx hic
cmake: cmake cmakein
cobol: cbl ccp cob cobol cpy
coffeescript: _coffee cjsx coffee cson iced
common-lisp: asd lisp lsp ny podsl sexp
coq: coq
crystal: cr
csound: csd
css: css
cucumber: feature
cuda: cu cuh
cython: pxd pxi pyx
d: di
dart: dart
desktop: desktop desktopin
diff: diff patch
dockerfile: Dockerfile dockerfile
dylan: dyl dylan intr lid
ec: ec eh
ecl: ecl eclxml
eiffel: e
elixir: ex exs
elm: elm
emacs-lisp: el emacs emacsdesktop
erlang: erl escript hrl xrl yrl
factor: factor
fancy: fancypack fy
fish: fish
forth: 4th forth frt fth
fortran: f f03 f08 f77 f90 f95 for fpp
gap: gap gi
gas: s
gdscript: gd
genshi: kid
glsl: fp frag frg fsh fshader geo geom glsl glslv gshader shader vert vrx vsh vshader
gnuplot: gnu gnuplot gp plot plt
go: go
golo: golo
gosu: gst gsx vark
graphql: graphql
groff: 1 1in 1m 1x 2 3 3in 3m 3qt 3x 4 5 6 7 8 9 man me rno roff
groovy: groovy grt gtpl gvy
haml: haml hamldeface
handlebars: handlebars hbs
haskell: hs hsc
haxe: hx hxsl
hcl: hcl tf
hlsl: fxh hlsl hlsli
html: htm html htmlhl xht xhtml
html+django: jinja mustache
html+erb: erb erbdeface
html+php: phtml
http: http
hy: hy
idl: dlm
idris: idr lidr
ini: cfg ini prefs properties
io: io
ioke: ik
isabelle: thy
j: ijs
jade: jade
jasmin: j
java: java
javascript: _js bones es6 jake js jsb jscad jsfl jsm jss njs pac sjs ssjs xsjs xsjslib
json: geojson json lock topojson
json5: json5
jsonld: jsonld
jsx: jsx
julia: jl
kotlin: kt ktm kts
lasso: las lasso lasso8 lasso9 ldml
lean: hlean lean
less: less
lilypond: ily ly
liquid: liquid
literate-agda: lagda
literate-haskell: lhs
livescript: _ls ls
llvm: ll
logos: x xi xm
logtalk: lgt logtalk
lsl: lsl lslp
lua: lua nse pd_lua rbxs wlua
makefile: Makefile mak mk mkfile
mako: mako mao
maple: mpl
markdown: markdown md mkd mkdn mkdown ron
mask: mask
mathematica: cdf ma mathematica mt nb nbp wl wlt
matlab: matlab
mediawiki: mediawiki wiki
modelica: mo
monkey: monkey
moonscript: moon
mupad: mu
myghty: myt
nesc: nc
nginx: nginxconf
nimrod: nim nimrod
nit: nit
nix: nix
nsis: nsh nsi
numpy: numpy numpyw numsc
objdump: objdump
objective-c++: mm
objective-j: sj
ocaml: eliom eliomi ml ml4 mli mll mly
octave: oct
ooc: ooc
opa: opa
openscad: scad
org: org
pan: pan
pascal: dfm dpr lpr pas
pawn: pwn
perl: al perl ph pl plx pm psgi t
perl6: 6pl 6pm nqp p6 p6l p6m pl6 pm6
php: aw ctp php php3 php4 php5 phps phpt
pike: pike pmod
pony: pony
postscript: eps ps
powershell: ps1 psd1 psm1
prolog: prolog yap
purescript: purs
python: bzl gyp lmi py pyde pyp pyt pyw tac wsgi xpy
qml: qbs qml
r: r rd rsx
racket: rkt rktd rktl scrbl
rebol: r2 r3 reb rebol
red: red reds
redcode: cw
restructuredtext: rest resttxt rst rsttxt
rhtml: rhtml
robotframework: robot
ruby: builder gemspec god irbrc jbuilder mspec podspec rabl rake rb rbuild rbw rbx ru ruby thor watchr
rust: rs rsin
sage: sage sagews
sas: sas
sass: sass
scala: sbt scala
scaml: scaml
scheme: scm sld sps ss
scilab: sce sci
scss: scss
shell: bash bats command ksh sh shin tmux tool zsh
shen: shen
slash: sl
slim: slim
smali: smali
smalltalk: st
smarty: tpl
solidity: sol
sparql: rq sparql
sql: cql db2 ddl pck pkb pks plb pls plsql prc sql tab udf viw
stan: stan
stata: ado do doh ihlp mata matah sthlp
supercollider: scd
swift: swift
systemverilog: sv svh vh
tcl: adp tcl tm
tcsh: csh tcsh
tea: tea
tex: aux bbx bib cbx dtx ins lbx ltx mkii mkiv mkvi sty tex toc
text: no txt
thrift: thrift
toml: toml
turtle: ttl
twig: twig
typescript: ts tsx
vala: vala vapi
vcl: vcl
verilog: veo
vhdl: vhd vhdl vhf vhi vho vhs vht vhw
visual-basic: bas frm frx vb vba vbhtml vbs
vue: vue
webidl: webidl
x10: x10
xbase: prg prw
xml: ant axml ccxml clixml cproject csl csproj ct dita ditamap ditaval dllconfig dotsettings filters fsproj
    fxml glade grxml iml ivy jelly jsproj kml launch mdpolicy mxml nproj nuspec odd osm plist props ps1xml
    psc1 pt rdf rss scxml srdf stTheme storyboard sublime-snippet targets tmCommand tmLanguage tmPreferences
    tmSnippet tmTheme tml ui urdf ux vbproj vcxproj vssettings vxml wsdl wsf wxi wxl wxs x3d xacro xaml xib
    xlf xliff xmi xml xmldist xproj xsd xul zcml
xquery: xq xql xqm xquery xqy
xslt: xsl xslt
xtend: xtend
yaml: reek rviz sublime-syntax syntax yaml yaml-tmlanguage yml
yang: yang
zephir: zep
zig: zig
"""
"""Name of the language, then its extensions; case counts. A line that is indented goes on."""


@functools.cache
def _languages() -> dict[str, str]:
    found = {}
    for row in _TABLE.replace("\n    ", " ").strip().split("\n"):
        language, _, extensions = row.partition(": ")
        found.update(dict.fromkeys(extensions.split(), language))
    return found


def language_of(extension: object) -> str | None:
    """Return the language of an extension without its dot, such as ``python`` for ``py``; None if unknown."""
    return _languages().get(extension) if isinstance(extension, str) else None
