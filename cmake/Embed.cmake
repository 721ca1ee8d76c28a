# Writes the bytes of IN as the C array contract_text into OUT.
file(READ ${IN} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include \"api/contract.h\"\n\nconst unsigned char contract_text[] = {\n${bytes}0};\nconst size_t contract_size = ${size};\n")
